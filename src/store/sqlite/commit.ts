import type { Database } from "bun:sqlite";
import type { Entry, PetStatus } from "../../domain/inventory.ts";
import {
  append,
  type Committed,
  type LedgerRow,
  type Tip,
  type Unit,
} from "../../domain/ledger.ts";
import { ledgerColumns } from "../rows.ts";
import { placeholders } from "../tables.ts";
import { inTransaction } from "./engine/connection.ts";
import { setEpoch } from "./epochs.ts";

export interface LedgerWriter {
  commit(units: readonly Unit[], now: number): Committed;
  /**
   * Begins an epoch. If that fails, the next commit begins it: in a store that was restored from a
   * backup, the last epoch may already have had other rows under the next numbers.
   */
  beginEpoch(epoch: string): void;
}

/** Writes the ledger and the inventory, on a connection that may block its thread. */
export function createLedgerWriter(database: Database): LedgerWriter {
  const tipOf = database.query("SELECT seq, at, epoch FROM head");
  const setEntry = database.query(
    "UPDATE inventory SET quantity = ?, version = ? WHERE pet_id = ?",
  );
  const setTip = database.query("UPDATE head SET seq = ?, at = ?");
  const epochAt = database.query(
    "SELECT epoch FROM epochs WHERE from_seq < ? ORDER BY number DESC LIMIT 1",
  );
  const findEntries = entryFinder(database);
  const addRows = rowInserter(database);
  let epochToBegin: string | undefined;

  function beginPendingEpoch(): void {
    if (epochToBegin !== undefined) setEpoch(database, epochToBegin);
  }

  const commitUnits = inTransaction(database, (units: readonly Unit[], now: number): Committed => {
    beginPendingEpoch();
    const [seq, at, epoch] = tipOf.values()[0] as [bigint, bigint, string];
    const tip: Tip = { seq: Number(seq), at: Number(at) };
    const entries = findEntries(units);
    const epochOf = (row: number) => epochAt.values(row)[0]?.[0] as string | undefined;
    const appended = append({ epoch, tip, entries, epochOf }, units, now);
    addRows(appended.rows);
    for (const entry of entries.values()) {
      // Entries that did not change keep a version at or before the old tip.
      if (entry.version <= tip.seq) continue;
      setEntry.run(entry.quantity, entry.version, entry.petId);
    }
    if (appended.tip !== tip) setTip.run(appended.tip.seq, appended.tip.at);
    return appended;
  });
  const begin = inTransaction(database, beginPendingEpoch);

  return {
    commit(units, now) {
      const committed = commitUnits(units, now);
      epochToBegin = undefined;
      return committed;
    },
    beginEpoch(epoch) {
      epochToBegin = epoch;
      begin();
      epochToBegin = undefined;
    },
  };
}

function entryFinder(database: Database): (units: readonly Unit[]) => Map<bigint, Entry> {
  const entryOf = database.query(
    "SELECT quantity, status, version FROM inventory WHERE pet_id = ?",
  );
  return (units) => {
    const entries = new Map<bigint, Entry>();
    for (const { changes } of units) {
      for (const { petId } of changes) {
        const row = entries.has(petId) ? undefined : entryOf.values(petId)[0];
        if (!row) continue;
        const [quantity, status, version] = row as [bigint, PetStatus, bigint];
        entries.set(petId, { petId, quantity: Number(quantity), status, version: Number(version) });
      }
    }
    return entries;
  };
}

/**
 * Inserts ledger rows, several per statement: calling SQLite costs as much as inserting a row, so a
 * block of rows takes half the time. Blocks have up to 32 rows, in powers of two; a group of 45 is
 * inserted as 32, 8, 4 and 1.
 */
function rowInserter(database: Database): (rows: readonly LedgerRow[]) => void {
  const blockRows = [32, 16, 8, 4, 2, 1];
  const row = `(${placeholders(ledgerColumns)})`;
  const statements = blockRows.map((count) =>
    database.query(`INSERT INTO ledger (${ledgerColumns}) VALUES ${Array(count).fill(row).join()}`),
  );
  return (rows) => {
    let from = 0;
    for (let block = 0; block < blockRows.length; block++) {
      const count = blockRows[block]!;
      for (; rows.length - from >= count; from += count) {
        const values: Value[] = [];
        for (let at = from; at < from + count; at++) pushValues(values, rows[at]!);
        statements[block]!.run(...values);
      }
    }
  };
}

type Value = string | number | bigint | null;

function pushValues(values: Value[], row: LedgerRow): void {
  const { before, after } = row;
  values.push(
    row.seq,
    row.petId,
    before ? before.quantity : null,
    after ? after.quantity : null,
    before ? before.status : null,
    after ? after.status : null,
    row.previous,
    row.cause,
    row.keyId,
    row.requestId,
    row.reason,
    row.at,
  );
}
