import type { Database } from "bun:sqlite";
import type { Entry, PetStatus } from "../../domain/inventory.ts";
import {
  append,
  type Change,
  type LedgerRow,
  type Outcome,
  type Tip,
} from "../../domain/ledger.ts";
import { ledgerColumns } from "../rows.ts";
import { placeholders } from "../tables.ts";

export interface LedgerWriter {
  commit(changes: readonly Change[], now: number): readonly Outcome[];
  beginEpoch(epoch: string): void;
}

/** The writing half of the ledger, on a connection that may block its thread. */
export function createLedgerWriter(database: Database): LedgerWriter {
  const tipOf = database.query("SELECT seq, at FROM head");
  const entryOf = database.query(
    "SELECT quantity, status, version FROM inventory WHERE pet_id = ?",
  );
  const setEntry = database.query(
    "UPDATE inventory SET quantity = ?, version = ? WHERE pet_id = ?",
  );
  const setTip = database.query("UPDATE head SET seq = ?, at = ?");
  const setEpoch = database.query("UPDATE head SET epoch = ?");
  const addRows = rowInserter(database);

  function find(petIds: Iterable<bigint>): Map<bigint, Entry> {
    const entries = new Map<bigint, Entry>();
    for (const petId of petIds) {
      const row = entryOf.values(petId)[0];
      if (!row) continue;
      const [quantity, status, version] = row as [bigint, PetStatus, bigint];
      entries.set(petId, { petId, quantity: Number(quantity), status, version: Number(version) });
    }
    return entries;
  }

  const group = database.transaction(
    (changes: readonly Change[], now: number): readonly Outcome[] => {
      const [seq, at] = tipOf.values()[0] as [bigint, bigint];
      const tip: Tip = { seq: Number(seq), at: Number(at) };
      const entries = find(new Set(changes.map((change) => change.petId)));
      const { rows, outcomes, tip: next } = append(tip, entries, changes, now);
      addRows(rows);
      for (const entry of entries.values()) {
        // Entries the group did not move keep a version at or before the old tip.
        if (entry.version <= tip.seq) continue;
        setEntry.run(entry.quantity, entry.version, entry.petId);
      }
      if (next !== tip) setTip.run(next.seq, next.at);
      return outcomes;
    },
  );

  return {
    // Immediate: a deferred transaction that starts by reading fails when it turns to writing
    // after somebody else wrote.
    commit: (changes, now) => group.immediate(changes, now),
    beginEpoch: (epoch) => void setEpoch.run(epoch),
  };
}

/**
 * Adds ledger rows, several a statement: calling into SQLite costs as much as adding a row, so a
 * block of rows takes half the time. Blocks are powers of two, 32 at most; a group of 45 is
 * written as 32, 8, 4 and 1.
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
