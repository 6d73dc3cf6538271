import { batchRows } from "../../tables.ts";
import type { Rows, Session } from "./session.ts";

/** Reads a long result in batches, with a cursor of this name, in a transaction that was begun. */
export async function* readBatches(
  { sql, query }: Session,
  name: string,
  text: string,
): AsyncGenerator<Rows> {
  await sql.unsafe(`DECLARE ${name} NO SCROLL CURSOR FOR ${text}`);
  for (;;) {
    const rows = await query(`FETCH ${batchRows} FROM ${name}`);
    if (rows.length > 0) yield rows;
    if (rows.length < batchRows) break;
  }
  await sql.unsafe(`CLOSE ${name}`);
}
