import type { Database } from "bun:sqlite";
import type { Entry, PetStatus } from "../../domain/inventory.ts";
import { append, type Change, type LedgerRow, type Tip } from "../../domain/ledger.ts";
import type { Committed } from "../../domain/ports.ts";

export interface LedgerWriter {
  commit(changes: readonly Change[], now: number): Committed;
}

/** The writing half of the ledger, on a connection that may block its thread. */
export function createLedgerWriter(database: Database): LedgerWriter {
  const tipOf = database.query("SELECT seq, at FROM head");
  const entryOf = database.query(
    "SELECT quantity, status, version FROM inventory WHERE pet_id = ?",
  );
  const addRow = database.query(
    `INSERT INTO ledger (seq, pet_id, quantity_before, quantity_after, status_before, status_after,
                         previous, cause, key_id, request_id, reason, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const setEntry = database.query(
    "UPDATE inventory SET quantity = ?, status = ?, version = ? WHERE pet_id = ?",
  );
  const setTip = database.query("UPDATE head SET seq = ?, at = ?");

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

  function write(row: LedgerRow): void {
    addRow.run(
      row.seq,
      row.petId,
      row.before?.quantity ?? null,
      row.after?.quantity ?? null,
      row.before?.status ?? null,
      row.after?.status ?? null,
      row.previous,
      row.cause,
      row.keyId,
      row.requestId,
      row.reason,
      row.at,
    );
  }

  const group = database.transaction((changes: readonly Change[], now: number): Committed => {
    const [seq, at] = tipOf.values()[0] as [bigint, bigint];
    const tip: Tip = { seq: Number(seq), at: Number(at) };
    const entries = find(new Set(changes.map((change) => change.petId)));
    const { rows, outcomes, tip: next } = append(tip, entries, changes, now);
    for (const row of rows) write(row);
    for (const entry of entries.values()) {
      // Entries the group did not move keep a version at or before the old tip.
      if (entry.version <= tip.seq) continue;
      setEntry.run(entry.quantity, entry.status, entry.version, entry.petId);
    }
    if (next !== tip) setTip.run(next.seq, next.at);
    return { rows, outcomes };
  });

  return {
    // Immediate: a deferred transaction that starts by reading fails when it turns to writing
    // after somebody else wrote.
    commit: (changes, now) => group.immediate(changes, now),
  };
}
