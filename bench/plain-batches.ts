// The floor of a batch: what the engine alone needs to update the entries and to add the ledger rows,
// in one flushed transaction. No HTTP, no rules, no hashes.
import { Database } from "bun:sqlite";
import { join } from "node:path";

/** Stores one batch. */
export interface PlainStore {
  store(petIds: readonly number[], quantity: number): Promise<void>;
  close(): Promise<void>;
}

const tables = `
  CREATE TABLE inventory (pet_id bigint PRIMARY KEY, quantity bigint NOT NULL, version bigint NOT NULL);
  CREATE TABLE ledger (
    seq bigint PRIMARY KEY, pet_id bigint NOT NULL, quantity_before bigint, quantity_after bigint,
    status_before text, status_after text, previous bigint, cause text NOT NULL, key_id text,
    request_id text, reason text, at bigint NOT NULL, hash bytea);
`;
const cause = "api";
const keyId = "key_0123456789abcdef";
const requestId = "req_0123456789abcdefghijkl";
const status = "available";
const hash = new Uint8Array(32).fill(7);

export function openPlainSqlite(directory: string, entries: number): PlainStore {
  const database = new Database(join(directory, "plain.db"));
  database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.run(
    tables.replaceAll("bigint PRIMARY KEY", "INTEGER PRIMARY KEY").replaceAll("bytea", "BLOB"),
  );
  const add = database.query("INSERT INTO inventory VALUES (?, 0, 0)");
  database.transaction(() => {
    for (let petId = 1; petId <= entries; petId++) add.run(petId);
  })();
  const find = database.query("SELECT quantity, version FROM inventory WHERE pet_id = ?");
  const update = database.query("UPDATE inventory SET quantity = ?, version = ? WHERE pet_id = ?");
  const insert = database.query(`INSERT INTO ledger VALUES (${Array(13).fill("?").join()})`);
  let seq = 0;
  const store = database.transaction((petIds: readonly number[], quantity: number) => {
    const at = Date.now();
    for (const petId of petIds) {
      const [before, previous] = find.values(petId)[0] as [number, number];
      seq += 1;
      insert.run(
        ...[seq, petId, before, quantity, status, status, previous],
        ...[cause, keyId, requestId, null, at, hash],
      );
      update.run(quantity, seq, petId);
    }
  });
  return {
    store: async (petIds, quantity) => store(petIds, quantity),
    close: async () => database.close(),
  };
}

export async function openPlainPostgres(address: string, entries: number): Promise<PlainStore> {
  const sql = new Bun.SQL(address, { max: 1 });
  await sql.unsafe(tables);
  await sql.unsafe(`INSERT INTO inventory SELECT n, 0, 0 FROM generate_series(1, ${entries}) AS n`);
  let seq = 0;
  return {
    async store(petIds, quantity) {
      const ids = `{${petIds.join()}}`;
      const from = seq;
      seq += petIds.length;
      await sql.begin(async (transaction) => {
        await transaction`
          INSERT INTO ledger
          SELECT ${from}::int8 + n, wanted.pet_id, quantity, ${quantity}::int8, ${status}::text,
            ${status}::text, version, ${cause}::text, ${keyId}::text, ${requestId}::text, NULL,
            ${Date.now()}::int8, sha256('')
          FROM unnest(${ids}::int8[]) WITH ORDINALITY AS wanted(pet_id, n)
            JOIN inventory USING (pet_id)`;
        await transaction`
          UPDATE inventory SET quantity = ${quantity}::int8, version = ${from}::int8 + n
          FROM unnest(${ids}::int8[]) WITH ORDINALITY AS wanted(pet_id, n)
          WHERE inventory.pet_id = wanted.pet_id`;
      });
    },
    close: () => sql.close(),
  };
}
