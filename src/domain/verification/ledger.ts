import type { Cause } from "../ledger/ledger.ts";
import type { ChainCheck } from "./chain.ts";
import type { CheckpointsCheck } from "./checkpoints.ts";
import { checkColumns } from "./columns.ts";
import type { Faults } from "./faults.ts";
import { checkKey } from "./keys.ts";
import type { RememberedKeysCheck } from "./remembered-keys.ts";
import { type PetStates, stockText } from "./states.ts";
import type { RowsOf, StoredRow } from "./store.ts";

export interface LedgerEnd {
  readonly rows: number;
  /** The `seq` of the last row, or 0. */
  readonly seq: number;
}

const where = ([seq]: StoredRow) => `ledger row ${seq}`;

/** What a replay compares each row with, and what it fills. */
export interface Replay {
  readonly states: PetStates;
  readonly keyIds: ReadonlySet<unknown>;
  readonly chain: ChainCheck;
  readonly rememberedKeys: RememberedKeysCheck;
  readonly checkpoints: CheckpointsCheck;
}

/** Replays the ledger into `states` and checks that every row continues those before it. */
export async function replayLedger(
  rowsOf: RowsOf,
  { states, keyIds, chain, rememberedKeys, checkpoints }: Replay,
  faults: Faults,
): Promise<LedgerEnd> {
  let [rows, lastSeq, lastAt] = [0, 0, 0];
  for await (const batch of rowsOf("ledger")) {
    for (const row of batch) {
      checkColumns("ledger", row, where, faults);
      const [seq, at] = [Number(row[0]), Number(row[11])];
      if (seq !== lastSeq + 1) {
        faults.note(where(row), `comes after row ${lastSeq}`, `row ${lastSeq + 1} there`);
      }
      if (at < lastAt) {
        faults.note(where(row), `at is ${at}`, `${lastAt} or later, as in row ${lastSeq}`);
      }
      const compared = checkpoints.row(seq);
      if (compared) await compared;
      const slot = states.slotOf(row[1] as bigint);
      checkContinues(row, states, slot, faults);
      checkSides(row, faults);
      checkOrigin(row, keyIds, faults);
      chain.row(row);
      const keysRead = rememberedKeys.row(seq, at);
      if (keysRead) await keysRead;
      states.set(slot, seq, toNumber(row[3]), row[5]);
      [lastSeq, lastAt] = [seq, at];
    }
    rows += batch.length;
  }
  return { rows, seq: lastSeq };
}

/** A row starts from the result of the pet's previous row, and refers to it. */
function checkContinues(row: StoredRow, states: PetStates, slot: number, faults: Faults): void {
  const [quantity, status, seq] = [
    states.quantityOf(slot),
    states.statusOf(slot),
    states.seqOf(slot),
  ];
  if (toNumber(row[2]) !== quantity || row[4] !== status) {
    const source = seq === 0 ? `pet ${row[1]} had no row` : `row ${seq} left that`;
    const found = `before is ${stockText(toNumber(row[2]), row[4])}`;
    faults.note(where(row), found, `${stockText(quantity, status)}: ${source}`);
  }
  const previous = seq === 0 ? null : seq;
  const isNew = quantity === null && row[6] === null;
  // An import of 0.6 does not know the last row of a pet that was removed.
  if (toNumber(row[6]) !== previous && !isNew) {
    const expected = `${previous}, the last row of pet ${row[1]}`;
    faults.note(where(row), `previous is ${row[6]}`, expected);
  }
}

/** Before and after are a quantity with a status, or nothing. They are not both nothing. */
function checkSides(row: StoredRow, faults: Faults): void {
  const [before, after, statusBefore, statusAfter] = row.slice(2, 6);
  if ((before === null) !== (statusBefore === null)) {
    const found = `before has quantity ${before} and status ${statusBefore}`;
    faults.note(where(row), found, "both or neither");
  }
  if ((after === null) !== (statusAfter === null)) {
    const found = `after has quantity ${after} and status ${statusAfter}`;
    faults.note(where(row), found, "both or neither");
  }
  if (before === null && after === null) {
    faults.note(where(row), "before and after are nothing", "one of them to be a stock");
  }
}

function checkOrigin(row: StoredRow, keyIds: ReadonlySet<unknown>, faults: Faults): void {
  const [cause, keyId, requestId] = [row[7] as Cause, row[8], row[9]];
  if (keyId !== null) checkKey(keyId, keyIds, row, where, faults);
  if (cause === "api" && (keyId === null || requestId === null)) {
    faults.note(where(row), "an API change without key or request", "both");
  }
}

export function toNumber(value: unknown): number | null {
  return value === null ? null : Number(value);
}
