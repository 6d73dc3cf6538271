import type { Cause } from "../ledger/ledger.ts";
import type { ChainCheck } from "./chain.ts";
import type { CheckpointsCheck } from "./checkpoints.ts";
import { checkKey } from "./keys.ts";
import type { RememberedKeysCheck } from "./remembered-keys.ts";
import { type Note, noteFor, type Tables } from "./rows.ts";
import { type PetState, type PetStates, stockText } from "./states.ts";
import type { StoredRow } from "./store.ts";

export interface LedgerEnd {
  readonly rows: number;
  /** The `seq` and the time of the last row, or 0. */
  readonly seq: number;
  readonly at: number;
}

/** What a replay compares each row with, and what it fills. */
export interface Replay {
  readonly states: PetStates;
  readonly keyIds: ReadonlySet<unknown>;
  readonly chain: ChainCheck;
  readonly rememberedKeys: RememberedKeysCheck;
  readonly checkpoints: CheckpointsCheck;
}

/** The last millisecond that a date can have. */
const timeMax = 8.64e15;

/** Replays the ledger into `states` and checks that every row continues those before it. */
export async function replayLedger(
  tables: Tables,
  { states, keyIds, chain, rememberedKeys, checkpoints }: Replay,
): Promise<LedgerEnd> {
  let [rows, lastSeq, lastAt] = [0, 0, 0];
  for await (const batch of tables.rowsOf("ledger")) {
    for (const row of batch) {
      const note = noteFor(tables, "ledger", row);
      const [seq, at] = [Number(row[0]), Number(row[11])];
      if (seq !== lastSeq + 1) note(`comes after row ${lastSeq}`, `row ${lastSeq + 1} there`);
      if (at < lastAt) note(`at is ${at}`, `${lastAt} or later, as in row ${lastSeq}`);
      if (at > timeMax) note(`at is ${at}`, `${timeMax} at the latest`);
      const compared = checkpoints.row(seq);
      if (compared) await compared;
      const slot = states.slotOf(row[1] as bigint);
      checkContinues(row, states.at(slot), note);
      checkSides(row, note);
      checkOrigin(row, keyIds, note);
      chain.row(row);
      const keysRead = rememberedKeys.row(seq, at);
      if (keysRead) await keysRead;
      states.set(slot, seq, toNumber(row[3]), row[5]);
      [lastSeq, lastAt] = [seq, at];
    }
    rows += batch.length;
  }
  return { rows, seq: lastSeq, at: lastAt };
}

/** A row starts from the result of the pet's previous row, and refers to it. */
function checkContinues(row: StoredRow, { seq, quantity, status }: PetState, note: Note): void {
  if (toNumber(row[2]) !== quantity || row[4] !== status) {
    const source = seq === 0 ? `pet ${row[1]} had no row` : `row ${seq} left that`;
    const found = `before is ${stockText(toNumber(row[2]), row[4])}`;
    note(found, `${stockText(quantity, status)}: ${source}`);
  }
  const previous = seq === 0 ? null : seq;
  const isNew = quantity === null && row[6] === null;
  // An import of 0.6 does not know the last row of a pet that was removed.
  if (toNumber(row[6]) !== previous && !isNew) {
    note(`previous is ${row[6]}`, `${previous}, the last row of pet ${row[1]}`);
  }
}

/** Before and after are a quantity with a status, or nothing. They are not both nothing. */
function checkSides(row: StoredRow, note: Note): void {
  const [before, after, statusBefore, statusAfter] = row.slice(2, 6);
  if ((before === null) !== (statusBefore === null)) {
    note(`before has quantity ${before} and status ${statusBefore}`, "both or neither");
  }
  if ((after === null) !== (statusAfter === null)) {
    note(`after has quantity ${after} and status ${statusAfter}`, "both or neither");
  }
  if (before === null && after === null) {
    note("before and after are nothing", "one of them to be a stock");
  }
}

function checkOrigin(row: StoredRow, keyIds: ReadonlySet<unknown>, note: Note): void {
  const [cause, keyId, requestId] = [row[7] as Cause, row[8], row[9]];
  if (keyId !== null) checkKey(keyId, keyIds, note);
  if (cause === "api" && (keyId === null || requestId === null)) {
    note("an API change without key or request", "both");
  }
}

export function toNumber(value: unknown): number | null {
  return value === null ? null : Number(value);
}
