import { genesisHash, hashText } from "../domain/ledger/chain.ts";
import type { Tip } from "../domain/ledger/ledger.ts";
import type { Moment } from "../domain/ledger/moments.ts";
import { storedText } from "../domain/verification/chain.ts";
import { toNumber } from "../domain/verification/ledger.ts";
import { createPetStates, type PetStates } from "../domain/verification/states.ts";
import type { RowsOf, StoredRow } from "../domain/verification/store.ts";
import { damagedBackup, invalidBackup } from "./manifest.ts";
import type { Backup } from "./reader.ts";

/** A ledger that may continue that of a backup: of another backup, or of a store that still reads. */
export interface LaterLedger {
  /** How messages name it. */
  readonly name: string;
  readonly rowsOf: RowsOf;
  /** It contains every update that was acknowledged before this time. Unknown for a store. */
  readonly at?: string;
}

/** What can be restored, and the state of the store at the moment that was asked for. */
export interface Reach {
  /** When the first row was added. Undefined if there are no rows. */
  readonly firstAt: number | undefined;
  /** The last row that can be reached. */
  readonly last: Tip;
  /** What happened up to this time is known. */
  readonly knownAt: number;
  /** Why the later ledger ends there. Undefined if it was read to its end. */
  readonly problem: string | undefined;
  /** The last row at or before the moment. */
  readonly until: Tip;
  /** Every pet after that row. */
  readonly states: PetStates;
  /** The last row that removed a pet, by the slot of the pet. */
  readonly removals: ReadonlyMap<number, number>;
  /** The request of that row has further rows after it. */
  readonly isInsideRequest: boolean;
}

/**
 * Reads the ledger of a backup and the rows of `later` that continue it, each of which must have the
 * hash of its content and of the row before it. The first one that does not ends the reach.
 */
export async function readReach(
  file: string,
  { manifest, rowsOf }: Backup,
  later: LaterLedger | undefined,
  moment: Moment | undefined,
): Promise<Reach> {
  const states = createPetStates();
  const removals = new Map<number, number>();
  const start: Tip = { seq: 0, at: 0, hash: genesisHash };
  let [last, until, firstAt] = [start, start, undefined as number | undefined];
  let requestId: unknown = null;
  let isInsideRequest = false;

  function add(row: StoredRow, tip: Tip): void {
    last = tip;
    firstAt ??= tip.at;
    if (moment && ("seq" in moment ? tip.seq > moment.seq : tip.at > moment.time)) {
      if (tip.seq === until.seq + 1) isInsideRequest = row[9] !== null && row[9] === requestId;
      return;
    }
    [until, requestId] = [tip, row[9]];
    const slot = states.slotOf(BigInt(row[1] as bigint));
    states.set(slot, tip.seq, toNumber(row[3]), row[5]);
    if (row[3] === null) removals.set(slot, tip.seq);
  }

  for await (const batch of rowsOf("ledger")) {
    for (const row of batch) {
      const next = tipAfter(last, row);
      if (typeof next === "string") throw damagedBackup(file, next);
      add(row, next);
    }
  }
  if (last.seq !== manifest.seq || last.hash !== manifest.hash) {
    throw damagedBackup(file, "its ledger does not end as its manifest says");
  }
  const problem = later && (await readLater(later, file, last, () => last, add));
  const times = [last.at, Date.parse(manifest.at)];
  if (later?.at !== undefined && problem === undefined) times.push(Date.parse(later.at));
  const knownAt = Math.max(...times);
  return { firstAt, last, knownAt, problem, until, states, removals, isInsideRequest };
}

/** Passes on the rows that continue the ledger after `end`. Returns why there are no more of them. */
async function readLater(
  { name, rowsOf }: LaterLedger,
  file: string,
  end: Tip,
  last: () => Tip,
  add: (row: StoredRow, tip: Tip) => void,
): Promise<string | undefined> {
  let problem: string | undefined;
  let lastSeq = 0;
  for await (const batch of rowsOf("ledger")) {
    for (const row of batch) {
      lastSeq = Number(row[0]);
      if (lastSeq === end.seq && hashIn(row) !== undefined && hashIn(row) !== end.hash) {
        const fork = `its row ${end.seq} differs from that of ${file}`;
        throw invalidBackup(name, `has the ledger of another store, or of another time: ${fork}`);
      }
      // To the end in any case: a database closes its cursor only there.
      if (problem !== undefined || lastSeq <= end.seq) continue;
      const next = hashIn(row) === undefined ? `row ${lastSeq} has no hash` : tipAfter(last(), row);
      if (typeof next === "string") problem = `${name} ends there, because its ${next}`;
      else add(row, next);
    }
  }
  if (lastSeq < end.seq) return `${name} ends at row ${lastSeq}, before ${file} does`;
  return problem;
}

/** The end of the ledger after this row, or what is wrong with the row. */
function tipAfter({ seq: previous, hash }: Tip, row: StoredRow): Tip | string {
  const [seq, at] = [Number(row[0]), Number(row[11])];
  if (seq !== previous + 1) return `row ${previous + 1} is missing`;
  const computed = hashText(hash, storedText(row));
  // The first rows of an old store have no hash.
  if ((hashIn(row) ?? computed) === computed) return { seq, at, hash: computed };
  return `row ${seq} has another hash than its content after row ${previous}`;
}

function hashIn(row: StoredRow): string | undefined {
  return row[12] instanceof Uint8Array ? Buffer.from(row[12]).toString("hex") : undefined;
}
