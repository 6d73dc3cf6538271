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
import { type PrimaryGuard, timelineNow } from "./engine/primary.ts";
import type { Query, Rows } from "./engine/session.ts";
import type { Epochs } from "./epochs.ts";

/**
 * Reads the head, with the timeline of the server. `timelineNow` fails on a server in recovery, so
 * this query never succeeds on a standby.
 */
const headText = `SELECT epoch, ${timelineNow},
    (SELECT seq FROM ledger_end ORDER BY seq DESC LIMIT 1), keys_version
  FROM store WHERE id = 1`;

const ledgerAfter = `SELECT ${ledgerColumns} FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2`;
const stockAfter = withTimeline(
  `SELECT ${stockColumns} FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2`,
);
const undoFrom = withTimeline(
  `SELECT ${undoColumns} FROM ledger WHERE seq <= $1 ORDER BY seq DESC LIMIT $2`,
  ", NULL",
);
const entriesFrom = withTimeline(
  `SELECT ${entryColumns} FROM inventory WHERE pet_id >= $1 ORDER BY pet_id LIMIT $2`,
);

/**
 * Adds a row with the timeline of the server that sent the page, also to an empty page. Behind a
 * pooler each statement may reach another server. The page must have four columns, of which the
 * first is never null and the second is a number, and a null in `more` for each further one.
 */
function withTimeline(page: string, more = ""): string {
  return `(${page}) UNION ALL SELECT NULL, ${timelineNow}, NULL, NULL${more}`;
}

/** Requests wait for `quick`; `long` reads pages of many rows. */
export function createInventoryReader(
  epochs: Epochs,
  guard: PrimaryGuard,
  quick: Query,
  long: Query,
): InventoryReader {
  /** Reads a page made by `withTimeline` and checks which server sent it. */
  async function readPage(text: string, values: readonly unknown[]): Promise<Rows> {
    const rows = await long(text, values);
    const timelineAt = rows.findLastIndex((row) => row[0] === null);
    guard.confirm(Number(rows[timelineAt]![1]));
    return rows.toSpliced(timelineAt, 1);
  }

  return {
    async readHead() {
      const [row] = await quick(headText);
      const [epoch, timeline, seq, keysVersion] = row!;
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
    async listEpochs() {
      const rows = await long(...epochs.listStatement);
      guard.confirm(Number(rows[0]![2]));
      return rows.map(toEpochStart);
    },
  };
}
