import { environments } from "./keys.ts";
import type { Snapshot } from "./ports.ts";
import { checkEntries, checkOrders, checkPets } from "./verification/catalogue.ts";
import { createCheckpointsCheck } from "./verification/checkpoints.ts";
import { checkEpochs } from "./verification/epochs.ts";
import { createFaults, type Faults, shown } from "./verification/faults.ts";
import { checkKeys } from "./verification/keys.ts";
import { type LedgerEnd, replayLedger } from "./verification/ledger.ts";
import { createPetStates } from "./verification/states.ts";

export interface Verification {
  /** Rows of the ledger. */
  readonly rows: number;
  readonly entries: number;
  readonly pets: number;
  /** The first faults, one line each; empty when there is none. */
  readonly faults: readonly string[];
  /** The number of all faults. */
  readonly faultCount: number;
}

/**
 * Checks a whole store: the inventory against the replayed ledger, entries against pets, keys
 * against their secrets, usage and bans, checkpoints against the ledger, every value against its
 * column, and the structures of the engine. Tables are read in batches, and only a small record per pet is kept in memory.
 */
export async function verify(snapshot: Snapshot): Promise<Verification> {
  const faults = createFaults();
  for (const fault of await snapshot.checkStructure()) {
    faults.note(fault.where, fault.found, fault.expected);
  }
  const counts = { rows: 0, entries: 0, pets: 0 };
  try {
    await checkTables(snapshot, counts, faults);
  } catch (error) {
    // A damaged file may not be readable to its end. The faults found before are more useful.
    if (faults.count === 0) throw error;
    faults.note("the store", `reading failed: ${(error as Error).message}`, "to read all of it");
  }
  return { ...counts, faults: faults.lines, faultCount: faults.count };
}

async function checkTables(
  snapshot: Snapshot,
  counts: { rows: number; entries: number; pets: number },
  faults: Faults,
): Promise<void> {
  const { rowsOf } = snapshot;
  const keyIds = await checkKeys(rowsOf, faults);
  const states = createPetStates();
  const checkpoints = await createCheckpointsCheck(snapshot, states, faults);
  const end = await replayLedger(rowsOf, states, keyIds, checkpoints, faults);
  await checkpoints.end(end.seq);
  counts.rows = end.rows;
  await checkHead(snapshot, end, faults);
  await checkEpochs(rowsOf, end.seq, faults);
  counts.entries = await checkEntries(rowsOf, states, faults);
  counts.pets = await checkPets(rowsOf, states, faults);
  await checkOrders(rowsOf, faults);
}

/** Checks that there is one head, and that it is at the end of the ledger. */
async function checkHead(
  { rowsOf, readHead }: Snapshot,
  end: LedgerEnd,
  faults: Faults,
): Promise<void> {
  const rows = [];
  for await (const batch of rowsOf("head")) rows.push(...batch);
  if (rows.length !== 1) {
    faults.note("the head", `has ${rows.length} rows`, "exactly 1");
    return;
  }
  const [environment, epoch, keysVersion] = rows[0]!;
  if (!(environments as readonly unknown[]).includes(environment)) {
    faults.note("the head", `environment is ${shown(environment)}`, environments.join(" or "));
  }
  if (!epoch) faults.note("the head", "has no epoch", "a random text");
  if (Number(keysVersion) < 0) {
    faults.note("the head", `the keys' version is ${keysVersion}`, "0 or more");
  }
  const { seq } = await readHead();
  if (seq !== end.seq) faults.note("the head", `seq is ${seq}`, `${end.seq}, the last ledger row`);
}
