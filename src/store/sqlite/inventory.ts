import type { Database } from "bun:sqlite";
import type { EpochStart } from "../../domain/ledger/epochs.ts";
import type { Entry } from "../../domain/ledger/inventory.ts";
import type { Head, InventoryReader } from "../../domain/ledger/store.ts";
import { int64Max } from "../../domain/values/int64.ts";
import { entriesFrom, ledgerAfter, stockAfter, undoFrom } from "../inventory.ts";
import * as rows from "../rows.ts";

/** Reads the inventory and its ledger. Every method returns a value, not a promise. */
export interface SqliteInventoryReader extends InventoryReader {
  readHead(): Head;
  entriesAfter(petId: bigint | null, rowsMax: number): readonly Entry[];
  listEpochs(): readonly EpochStart[];
}

export function createInventoryReader(database: Database): SqliteInventoryReader {
  const head = database.query("SELECT epoch, seq, keys_version FROM head");
  const ledger = database.query(ledgerAfter);
  const stock = database.query(stockAfter);
  const undo = database.query(undoFrom);
  const entries = database.query(entriesFrom);
  const epochs = database.query("SELECT epoch, from_seq FROM epochs ORDER BY number");

  return {
    readHead() {
      const [epoch, seq, keysVersion] = head.values()[0] as rows.Row;
      return { epoch: epoch as string, seq: Number(seq), keysVersion: Number(keysVersion) };
    },
    // A file that is replaced while it is served is damage, which rejects reads.
    isOutdated: () => false,
    ledgerAfter: (seq, rowsMax) => ledger.values(seq, rowsMax).map(rows.toLedgerRow),
    stockAfter: (seq, rowsMax) => stock.values(seq, rowsMax).map(rows.toStockRow),
    undoFrom: (seq, rowsMax) => undo.values(seq, rowsMax).map(rows.toUndoRow),
    entriesAfter: (petId, rowsMax) =>
      petId === int64Max ? [] : entries.values(rows.firstIdAfter(petId), rowsMax).map(rows.toEntry),
    listEpochs: () => epochs.values().map(rows.toEpochStart),
  };
}
