// The peer's store on pg: a pool, one prepared statement per request.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import pg from "pg";

// The catalogue's numbers are small, so bigint columns can be JavaScript numbers, as usual.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export async function openPostgres(url, key, catalogue) {
  const pool = new pg.Pool({ connectionString: url, max: 20 });
  await pool.query(`
    CREATE TABLE IF NOT EXISTS api_keys (hash text PRIMARY KEY, id integer NOT NULL);
    CREATE TABLE IF NOT EXISTS inventory (
      "petId" bigint PRIMARY KEY, quantity bigint NOT NULL, status text NOT NULL);
  `);
  await pool.query("INSERT INTO api_keys VALUES ($1, 1) ON CONFLICT DO NOTHING", [hashOf(key)]);
  if (catalogue !== undefined) await importCatalogue(pool, catalogue);

  // Keys rarely change, so a typical stack caches them rather than query the database.
  const seen = new Map();
  return {
    async findKey(candidate) {
      if (seen.has(candidate)) return seen.get(candidate);
      const found = await pool.query("SELECT id FROM api_keys WHERE hash = $1", [
        hashOf(candidate),
      ]);
      const id = found.rows[0]?.id;
      if (id !== undefined) seen.set(candidate, id);
      return id;
    },
    async listInventory() {
      const result = await pool.query({
        name: "list",
        text: 'SELECT "petId", quantity, status FROM inventory ORDER BY "petId"',
      });
      return result.rows;
    },
    async updateInventory(petId, quantity) {
      const result = await pool.query({
        name: "update",
        text: 'UPDATE inventory SET quantity = $1 WHERE "petId" = $2 RETURNING "petId", quantity, status',
        values: [quantity, petId],
      });
      return result.rows[0];
    },
    /** All or none. */
    async updateAll(changes) {
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        const result = await client.query({
          name: "update-all",
          text: `UPDATE inventory SET quantity = change.quantity
                 FROM unnest($1::bigint[], $2::bigint[]) AS change(id, quantity)
                 WHERE "petId" = change.id RETURNING "petId", inventory.quantity, status`,
          values: [changes.map(({ petId }) => petId), changes.map(({ quantity }) => quantity)],
        });
        const isComplete = result.rows.length === changes.length;
        await client.query(isComplete ? "COMMIT" : "ROLLBACK");
        if (!isComplete) return undefined;
        const byId = new Map(result.rows.map((row) => [row.petId, row]));
        return changes.map(({ petId }) => byId.get(petId));
      } finally {
        client.release();
      }
    },
    close: () => pool.end(),
  };
}

async function importCatalogue(pool, file) {
  const pets = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  await pool.query(
    `INSERT INTO inventory SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[])
     ON CONFLICT ("petId") DO NOTHING`,
    [pets.map((pet) => pet.petId), pets.map((pet) => pet.quantity), pets.map((pet) => pet.status)],
  );
}

function hashOf(key) {
  return createHash("sha256").update(key).digest("hex");
}
