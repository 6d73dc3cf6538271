import { quantityMax } from "../domain/ledger/inventory.ts";
import { type PetNumber, type SalesStore, salesRowsMax } from "../domain/sales/sales.ts";
import { dayMs } from "../domain/values/times.ts";
import type { Row } from "./rows.ts";
import { readAll, readPage, run, type ScriptsOf } from "./statements.ts";

function toPetNumber([petId, value]: Row): PetNumber {
  return { petId: petId as bigint, value: Math.min(Number(value), quantityMax) };
}

export const salesReads: ScriptsOf<SalesStore, Exclude<keyof SalesStore, "addSales">> = {
  *readSalesSeq() {
    return Number((yield* run("SELECT seq FROM sales_end"))[0]![0]);
  },
  // The plus keeps SQLite from the index by day, with which every page would read all pets.
  soldAfter: (after, firstDay, petsMax) =>
    readPage(
      toPetNumber,
      `SELECT pet_id, sum(units) FROM sales WHERE pet_id >= $1::int8 AND +day >= $3::int8
       GROUP BY pet_id ORDER BY pet_id LIMIT $2`,
      after,
      [petsMax, firstDay],
    ),
  thresholdsFrom: (...values) =>
    readAll(
      toPetNumber,
      `SELECT pet_id, low_stock_at FROM pets WHERE low_stock_at IS NOT NULL
       AND pet_id BETWEEN $1::int8 AND $2::int8 ORDER BY pet_id LIMIT $3`,
      values,
    ),
};

const atMost = (units: string) =>
  `CASE WHEN ${units} > ${quantityMax} THEN ${quantityMax} ELSE ${units} END`;

const move = `UPDATE sales_end SET seq = coalesce(
  (SELECT max(seq) FROM ledger WHERE seq > $1::int8 AND seq <= $2::int8), $1::int8) RETURNING seq`;
const add = `INSERT INTO sales (pet_id, day, units)
  SELECT pet_id, at / ${dayMs}, ${atMost("sum(quantity_before - quantity_after)")} FROM ledger
  WHERE seq > $1::int8 AND seq <= $2::int8 AND at / ${dayMs} >= $3::int8
    AND cause = 'api' AND quantity_after < quantity_before
  GROUP BY 1, 2
  ON CONFLICT (pet_id, day) DO UPDATE SET units = ${atMost("sales.units + excluded.units")}`;
const prune = `DELETE FROM sales WHERE (pet_id, day) IN (
  SELECT pet_id, day FROM sales WHERE day < $1::int8 ORDER BY day LIMIT ${salesRowsMax})`;

/** One transaction. */
export const salesWrites: ScriptsOf<SalesStore, "addSales"> = {
  *addSales(skipTo, firstDay) {
    // Locks the position until the transaction ends.
    const [[stored] = []] = yield* run("UPDATE sales_end SET seq = seq RETURNING seq");
    const from = Math.max(Number(stored), skipTo);
    const [[to] = []] = yield* run(move, [from, from + salesRowsMax]);
    yield* run(add, [from, Number(to), firstDay]);
    yield* run(prune, [firstDay]);
  },
};
