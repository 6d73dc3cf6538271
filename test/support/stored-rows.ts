import { Database } from "bun:sqlite";
import { SQL } from "bun";

/** Reads stores without the code under test. */

/** The columns of `ledger` in test/fixtures/expected.ts. */
const changeColumns = `seq, pet_id, quantity_before, quantity_after, status_before, status_after,
  previous, cause, reason`;

/** The ledger, one line for each row. */
export async function readLedger(database: string, columns = changeColumns): Promise<string[]> {
  const rows = await readRows(database, `SELECT ${columns} FROM ledger ORDER BY seq`);
  return rows.map((row) => row.map((value) => value ?? "-").join(" "));
}

/** The rows of a query. 64-bit integers are bigints. */
export async function readRows(database: string, query: string): Promise<unknown[][]> {
  if (database.startsWith("sqlite:")) {
    using file = new Database(database.slice("sqlite:".length), { safeIntegers: true });
    return file.query(query).values();
  }
  await using sql = new SQL(database, { max: 1, bigint: true });
  const rows: Iterable<unknown[]> = await sql.unsafe(query).values();
  return [...rows];
}

/** Makes a store look like one of another version. */
export function setSchemaNumber(database: string, number: number): Promise<unknown> {
  const statement = database.startsWith("sqlite:")
    ? `PRAGMA user_version = ${number}`
    : `UPDATE petstore_schema SET version = ${number}, fits = ${number}`;
  return readRows(database, statement);
}

/** The hash of every row, as docs/proof.md describes it. The first is that of an empty ledger. */
export async function hashesOf(database: string): Promise<string[]> {
  const columns = `seq, pet_id, quantity_before, status_before, quantity_after, status_after, cause,
    key_id, request_id, reason, at`;
  const rows = await readRows(database, `SELECT ${columns} FROM ledger ORDER BY seq`);
  const hashes = [new Bun.SHA256().digest("hex")];
  for (const row of rows) {
    const values = row.map((value) =>
      typeof value === "bigint" ? `${value}` : JSON.stringify(value),
    );
    const text = `${hashes.at(-1)}[${values.join()}]`;
    hashes.push(new Bun.SHA256().update(text).digest("hex"));
  }
  return hashes;
}
