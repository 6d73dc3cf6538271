import type { InventoryReader } from "../../domain/ledger/store.ts";
import { int64Max } from "../../domain/values/int64.ts";
import {
  entryColumns,
  firstIdAfter,
  ledgerColumns,
  stockColumns,
  toEntry,
  toEpochStart,
  toLedgerRow,
  toStockRow,
  toUndoRow,
  undoColumns,
} from "../rows.ts";
import { checkedPages, checkedRows, withTimeline } from "./engine/checked-reads.ts";
import { type PrimaryGuard, timelineNow } from "./engine/primary.ts";
import type { Query } from "./engine/session.ts";
import type { Epochs } from "./epochs.ts";

/**
 * Reads the head, with the timeline of the server. `timelineNow` fails on a server in recovery, so
 * this query never succeeds on a standby.
 */
const headText = `SELECT epoch, (SELECT seq FROM ledger_end ORDER BY seq DESC LIMIT 1),
    keys_version, ${timelineNow}
  FROM store WHERE id = 1`;

const ledgerAfter = `SELECT ${ledgerColumns} FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2`;
const stockAfter = withTimeline(
  `SELECT ${stockColumns} FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2`,
  stockColumns,
);
const undoFrom = withTimeline(
  `SELECT ${undoColumns} FROM ledger WHERE seq <= $1 ORDER BY seq DESC LIMIT $2`,
  undoColumns,
);
const entriesFrom = withTimeline(
  `SELECT ${entryColumns} FROM inventory WHERE pet_id >= $1 ORDER BY pet_id LIMIT $2`,
  entryColumns,
);

/** Requests wait for `quick`; `long` reads pages of many rows. */
export function createInventoryReader(
  epochs: Epochs,
  guard: PrimaryGuard,
  quick: Query,
  long: Query,
): InventoryReader {
  const readPage = checkedPages(guard, long);

  return {
    async readHead() {
      const [[epoch, seq, keysVersion, timeline] = []] = await quick(headText);
      guard.confirm(Number(timeline));
      return {
        epoch: epochs.nameOf(epoch as string, Number(timeline)),
        seq: Number(seq),
        keysVersion: Number(keysVersion),
      };
    },
    isOutdated: (epoch) => epochs.timelineOf(epoch) < guard.newestTimeline,
    ledgerAfter: async (seq, rowsMax) => (await long(ledgerAfter, [seq, rowsMax])).map(toLedgerRow),
    stockAfter: async (seq, rowsMax) =>
      (await readPage(stockAfter, [seq, rowsMax])).map(toStockRow),
    undoFrom: async (seq, rowsMax) => (await readPage(undoFrom, [seq, rowsMax])).map(toUndoRow),
    entriesAfter: async (petId, rowsMax) =>
      petId === int64Max
        ? []
        : (await readPage(entriesFrom, [firstIdAfter(petId), rowsMax])).map(toEntry),
    listEpochs: async () =>
      (await checkedRows(guard, long)(...epochs.listStatement)).map(toEpochStart),
  };
}
