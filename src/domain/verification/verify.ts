import { genesisHash } from "../ledger/chain.ts";
import type { Tip } from "../ledger/ledger.ts";
import { checkEntries, checkOrders, checkPets, checkRemovals } from "./catalogue.ts";
import { createChainCheck, type KeptHash } from "./chain.ts";
import { createCheckpointsCheck } from "./checkpoints.ts";
import { checkEpochs, checkWebhooks } from "./epochs.ts";
import { createFaults, type Faults } from "./faults.ts";
import { checkAudit, checkKeys, checkUsageHistory } from "./keys.ts";
import { type LedgerEnd, replayLedger } from "./ledger.ts";
import { createRememberedKeysCheck } from "./remembered-keys.ts";
import { createPetStates } from "./states.ts";
import type { Snapshot } from "./store.ts";

export interface Verification {
  /** Rows of the ledger. */
  readonly rows: number;
  readonly entries: number;
  readonly pets: number;
  /** The last row of the ledger, or 0. */
  readonly seq: number;
  /** The hash of that row. An outsider who keeps it can check later that no row up to it changed. */
  readonly hash: string;
  /** The first faults, one line each; empty when there is none. */
  readonly faults: readonly string[];
  /** The number of all faults. */
  readonly faultCount: number;
}

/**
 * Checks a whole store: every ledger row against its hash, the inventory and the checkpoints against
 * the replayed ledger, entries against pets, keys against their secrets, usage and bans, the cursors
 * of webhooks against the ledger, the audit log, the usage over time, and the structures and constraints
 * of the engine. With `kept`, also that a row still has the hash that someone kept.
 * Tables are read in batches, and only a small record per pet is kept in memory.
 */
export async function verify(snapshot: Snapshot, kept?: KeptHash): Promise<Verification> {
  const faults = createFaults();
  for (const fault of await snapshot.checkStructure()) {
    faults.note(fault.where, fault.found, fault.expected);
  }
  const counts: Counts = { rows: 0, entries: 0, pets: 0, seq: 0, hash: genesisHash };
  try {
    await checkTables(snapshot, kept, counts, faults);
  } catch (error) {
    // A damaged file may not be readable to its end. The faults found before are more useful.
    if (faults.count === 0) throw error;
    faults.note("the store", `reading failed: ${(error as Error).message}`, "to read all of it");
  }
  return { ...counts, faults: faults.lines, faultCount: faults.count };
}

/** What was read so far. */
type Counts = {
  -readonly [Name in "rows" | "entries" | "pets" | "seq" | "hash"]: Verification[Name];
};

async function checkTables(
  snapshot: Snapshot,
  kept: KeptHash | undefined,
  counts: Counts,
  faults: Faults,
): Promise<void> {
  const tables = { rowsOf: snapshot.rowsOf, faults };
  const keyIds = await checkKeys(tables);
  const states = createPetStates();
  const chain = createChainCheck(tables, kept);
  const rememberedKeys = await createRememberedKeysCheck(tables);
  const checkpoints = await createCheckpointsCheck(snapshot, states, faults);
  const checks = { states, keyIds, chain, rememberedKeys, checkpoints };
  const end = await replayLedger(tables, checks);
  await checkpoints.end(end.seq);
  counts.rows = end.rows;
  counts.seq = end.seq;
  await rememberedKeys.end(end.seq);
  const tip = await checkHead(snapshot, end, faults);
  counts.hash = chain.end(end.seq, tip?.hash);
  await checkEpochs(tables, end.seq);
  await checkRemovals(tables, states);
  counts.entries = await checkEntries(tables, states);
  counts.pets = await checkPets(tables, states);
  await checkOrders(tables);
  await checkWebhooks(tables, end.seq);
  await checkAudit(tables, keyIds);
  await checkUsageHistory(tables, keyIds);
}

/** Checks that there is one head, and that it is at the end of the ledger. Returns where it is. */
async function checkHead(
  { rowsOf, readTip }: Snapshot,
  end: LedgerEnd,
  faults: Faults,
): Promise<Tip | undefined> {
  let rows = 0;
  for await (const batch of rowsOf("head")) rows += batch.length;
  if (rows !== 1) {
    faults.note("the head", `has ${rows} rows`, "exactly 1");
    return undefined;
  }
  const tip = await readTip();
  if (tip.seq !== end.seq) {
    faults.note("the head", `seq is ${tip.seq}`, `${end.seq}, the last ledger row`);
  }
  // The next row is never before this time.
  if (tip.at !== end.at) {
    faults.note("the head", `at is ${tip.at}`, `${end.at}, as in the last ledger row`);
  }
  return tip;
}
