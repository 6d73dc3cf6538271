import { int64Max, int64Min } from "../../domain/integers.ts";
import type { Reader } from "../../domain/ports.ts";
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
import { type Rows, timelineNow } from "./session.ts";

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
const stockAfter = `SELECT ${stockColumns} FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2`;
const entriesFrom = `SELECT ${entryColumns} FROM inventory WHERE pet_id >= $1 ORDER BY pet_id LIMIT $2`;
const petsFrom = `SELECT ${petColumns} FROM pets JOIN inventory USING (pet_id)
  WHERE pet_id >= $1 ORDER BY pet_id LIMIT $2`;
const petById = `SELECT ${petColumns} FROM pets JOIN inventory USING (pet_id) WHERE pet_id = $1`;
const ordersFrom = `SELECT ${orderColumns} FROM orders WHERE id <= $1 ORDER BY id DESC LIMIT $2`;

/**
 * Reads through two ways: `quick` for what callers wait for, `long` for pages of many rows. The
 * database's own number, `place`, is part of the epoch, because a copy of a database has the epoch
 * of the original and goes its own way; so is the timeline.
 */
export function createReader(place: string, quick: Ask, long: Ask): Reader {
  return {
    async look() {
      const [row] = await quick(look);
      const [epoch, timeline, seq, keysVersion] = row!;
      return {
        epoch: `${epoch}-${place}.${timeline}`,
        seq: Number(seq),
        keysVersion: Number(keysVersion),
      };
    },
    ledgerAfter: async (seq, rowsMax) => (await long(ledgerAfter, [seq, rowsMax])).map(toLedgerRow),
    stockAfter: async (seq, rowsMax) => (await long(stockAfter, [seq, rowsMax])).map(toStockRow),
    entriesAfter: async (petId, rowsMax) =>
      petId === int64Max ? [] : (await long(entriesFrom, [following(petId), rowsMax])).map(toEntry),
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
