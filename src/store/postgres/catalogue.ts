import type { Reader } from "../../domain/ports.ts";
import { int64Max, int64Min } from "../../domain/values/int64.ts";
import {
  entryColumns,
  ledgerColumns,
  orderColumns,
  petColumns,
  stockColumns,
  toEntry,
  toLedgerRow,
  toOrder,
  toPet,
  toStockRow,
} from "../rows.ts";
import { type PrimaryGuard, timelineNow } from "./engine/primary.ts";
import type { Rows } from "./engine/session.ts";

export type Ask = (text: string, values?: readonly unknown[]) => Promise<Rows>;

/**
 * The server's timeline changes when a standby is promoted, and a standby that lacked the last
 * commits may by then show the same `seq` with other content. The function fails on a server in
 * recovery, so that no look is ever answered by a standby.
 */
const look = `SELECT epoch, ${timelineNow},
    (SELECT seq FROM ledger_end ORDER BY seq DESC LIMIT 1), keys_version
  FROM store WHERE id = 1`;
const ledgerAfter = `SELECT ${ledgerColumns} FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2`;
const stockAfter = withTimeline(
  `SELECT ${stockColumns} FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2`,
);
const entriesFrom = withTimeline(
  `SELECT ${entryColumns} FROM inventory WHERE pet_id >= $1 ORDER BY pet_id LIMIT $2`,
);
const petsFrom = `SELECT ${petColumns} FROM pets JOIN inventory USING (pet_id)
  WHERE pet_id >= $1 ORDER BY pet_id LIMIT $2`;
const petById = `SELECT ${petColumns} FROM pets, petstore_stock(pet_id) WHERE pet_id = $1`;
const ordersFrom = `SELECT ${orderColumns} FROM orders WHERE id <= $1 ORDER BY id DESC LIMIT $2`;

/**
 * Adds a row that tells the timeline of the server that gave the page, also of an empty page.
 * Behind a pooler every statement may be answered by another server. For pages of four columns
 * whose first is never null and whose second is a number.
 */
function withTimeline(page: string): string {
  return `(${page}) UNION ALL SELECT NULL, ${timelineNow}, NULL, NULL`;
}

/**
 * Reads through two ways: `quick` for what callers wait for, `long` for pages of many rows. The
 * database's own number, `place`, is part of the epoch, because a copy of a database has the epoch
 * of the original and goes its own way; so is the timeline.
 */
export function createReader(place: string, guard: PrimaryGuard, quick: Ask, long: Ask): Reader {
  /** Asks for a page made by `withTimeline`, and checks which server gave it. */
  async function page(text: string, values: readonly unknown[]): Promise<Rows> {
    const rows = await long(text, values);
    const timelineAt = rows.findLastIndex((row) => row[0] === null);
    guard.confirm(Number(rows[timelineAt]![1]));
    return rows.toSpliced(timelineAt, 1);
  }

  return {
    async look() {
      const [row] = await quick(look);
      const [epoch, timeline, seq, keysVersion] = row!;
      guard.confirm(Number(timeline));
      return {
        epoch: `${epoch}-${place}.${timeline}`,
        seq: Number(seq),
        keysVersion: Number(keysVersion),
      };
    },
    isOutdated: (epoch) => Number(epoch.slice(epoch.lastIndexOf(".") + 1)) < guard.newestTimeline,
    ledgerAfter: async (seq, rowsMax) => (await long(ledgerAfter, [seq, rowsMax])).map(toLedgerRow),
    stockAfter: async (seq, rowsMax) => (await page(stockAfter, [seq, rowsMax])).map(toStockRow),
    entriesAfter: async (petId, rowsMax) =>
      petId === int64Max ? [] : (await page(entriesFrom, [following(petId), rowsMax])).map(toEntry),
    petsAfter: async (petId, rowsMax) =>
      petId === int64Max ? [] : (await long(petsFrom, [following(petId), rowsMax])).map(toPet),
    async findPet(petId) {
      const [row] = await quick(petById, [petId]);
      return row && toPet(row);
    },
    async listOrders({ after, limit }) {
      if (after === int64Min) return [];
      return (await quick(ordersFrom, [after === null ? int64Max : after - 1n, limit])).map(
        toOrder,
      );
    },
  };
}

/** The smallest id after this one; pages start there, so that the very first id is not missed. */
function following(petId: bigint | null): bigint {
  return petId === null ? int64Min : petId + 1n;
}
