import type { InventoryReader } from "../../domain/ledger/store.ts";
import { int64Max } from "../../domain/values/int64.ts";
import { entriesFrom, ledgerAfter, stockAfter, undoFrom } from "../inventory.ts";
import * as rows from "../rows.ts";
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

const stockPage = withTimeline(stockAfter, rows.stockColumns);
const undoPage = withTimeline(undoFrom, rows.undoColumns);
const entryPage = withTimeline(entriesFrom, rows.entryColumns);

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
    ledgerAfter: async (seq, rowsMax) =>
      (await long(ledgerAfter, [seq, rowsMax])).map(rows.toLedgerRow),
    stockAfter: async (seq, rowsMax) =>
      (await readPage(stockPage, [seq, rowsMax])).map(rows.toStockRow),
    undoFrom: async (seq, rowsMax) =>
      (await readPage(undoPage, [seq, rowsMax])).map(rows.toUndoRow),
    entriesAfter: async (petId, rowsMax) =>
      petId === int64Max
        ? []
        : (await readPage(entryPage, [rows.firstIdAfter(petId), rowsMax])).map(rows.toEntry),
    listEpochs: async () =>
      (await checkedRows(guard, long)(...epochs.listStatement)).map(rows.toEpochStart),
  };
}
