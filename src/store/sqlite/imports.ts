import type { Database } from "bun:sqlite";
import { namelessPet, repeatedId } from "../../domain/imports.ts";
import type { OrderRecord } from "../../domain/orders.ts";
import { newPetStock, type PetRecord } from "../../domain/pets.ts";
import type { Imported } from "../../domain/ports.ts";

/**
 * Rows are staged in a temporary table, which locks nothing, and then applied by a handful of
 * statements over all of them: a million rows hold the write lock for seconds, not minutes.
 */
export async function importPets(
  database: Database,
  records: AsyncIterable<readonly PetRecord[]>,
  reason: string,
  now: () => number,
): Promise<Imported> {
  database.run(`CREATE TEMP TABLE staged_pets (
    pet_id INTEGER PRIMARY KEY, line INTEGER, name TEXT, category TEXT, category_given INTEGER,
    tags TEXT, photo_urls TEXT, status TEXT, quantity INTEGER)`);
  try {
    const stage = database.query(
      "INSERT INTO staged_pets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    );
    await stageAll(database, records, (record) => {
      const { changes } = stage.run(
        record.petId,
        record.line,
        record.name ?? null,
        record.category ?? null,
        record.category === undefined ? 0 : 1,
        record.tags ? JSON.stringify(record.tags) : null,
        record.photoUrls ? JSON.stringify(record.photoUrls) : null,
        record.status ?? null,
        record.quantity ?? null,
      );
      if (changes === 0) throw repeatedId(record.line, "petId", record.petId);
    });
    return database.transaction(() => applyPets(database, reason, now())).immediate();
  } finally {
    database.run("DROP TABLE staged_pets");
  }
}

function applyPets(database: Database, reason: string, now: number): Imported {
  const nameless = database
    .query(
      `SELECT line, pet_id FROM staged_pets
       WHERE name IS NULL AND pet_id NOT IN (SELECT pet_id FROM pets) ORDER BY line LIMIT 1`,
    )
    .values()[0];
  if (nameless) throw namelessPet(nameless[0], nameless[1]);
  const changed = countChanged(database);
  database.run(
    `UPDATE pets SET name = coalesce(s.name, pets.name),
       category = CASE WHEN s.category_given THEN s.category ELSE pets.category END,
       tags = coalesce(s.tags, pets.tags), photo_urls = coalesce(s.photo_urls, pets.photo_urls)
     FROM staged_pets s WHERE s.pet_id = pets.pet_id AND ${petDiffers}`,
  );
  // Known pets are passed over by the conflict, not by a look at the table: a statement that also
  // reads the table it fills has to copy all its rows aside first.
  const { changes: created } = database.run(
    `INSERT INTO pets (pet_id, name, category, tags, photo_urls)
     SELECT pet_id, coalesce(name, ''), category, coalesce(tags, '[]'), coalesce(photo_urls, '[]')
     FROM staged_pets WHERE true ON CONFLICT DO NOTHING`,
  );
  const [seq, at] = database.query("SELECT seq, at FROM head").values()[0] as [bigint, bigint];
  // The ledger's seq is its row number, which the engine counts on by itself, in this order.
  const { changes: rows } = database
    .query(
      `INSERT INTO ledger (pet_id, quantity_before, quantity_after, status_before,
                           status_after, previous, cause, key_id, request_id, reason, at)
       SELECT s.pet_id,
              i.quantity, coalesce(s.quantity, i.quantity, ?1),
              i.status, coalesce(s.status, i.status, ?2),
              i.version, 'import', NULL, NULL, ?3, ?4
       FROM staged_pets s LEFT JOIN inventory i USING (pet_id)
       WHERE i.pet_id IS NULL OR ${stockDiffers}
       ORDER BY s.pet_id`,
    )
    .run(newPetStock.quantity, newPetStock.status, reason, Math.max(now, Number(at)));
  if (rows > 0) {
    database
      .query(
        `INSERT INTO inventory (pet_id, quantity, status, version)
       SELECT pet_id, quantity_after, status_after, seq FROM ledger WHERE seq > ?1 ORDER BY seq
       ON CONFLICT (pet_id) DO UPDATE SET quantity = excluded.quantity,
         status = excluded.status, version = excluded.version`,
      )
      .run(seq);
    database
      .query("UPDATE head SET seq = ?, at = ?")
      .run(Number(seq) + rows, Math.max(now, Number(at)));
  }
  const [staged] = database.query("SELECT count(*) FROM staged_pets").values()[0] as [bigint];
  return { created, changed, unchanged: Number(staged) - created - changed };
}

/** What a row gives and the known pet has otherwise; what it does not give compares as null. */
const petDiffers = `(s.name <> pets.name OR s.tags <> pets.tags OR s.photo_urls <> pets.photo_urls
  OR (s.category_given AND s.category IS NOT pets.category))`;
const stockDiffers = "(s.quantity <> i.quantity OR s.status <> i.status)";

function countChanged(database: Database): number {
  const [count] = database
    .query(
      `SELECT count(*) FROM staged_pets s JOIN pets USING (pet_id) JOIN inventory i USING (pet_id)
       WHERE ${petDiffers} OR ${stockDiffers}`,
    )
    .values()[0] as [bigint];
  return Number(count);
}

export async function importOrders(
  database: Database,
  records: AsyncIterable<readonly OrderRecord[]>,
): Promise<Imported> {
  database.run(`CREATE TEMP TABLE staged_orders (
    id INTEGER PRIMARY KEY, pet_id INTEGER, quantity INTEGER, ship_date INTEGER, status TEXT,
    complete INTEGER)`);
  try {
    const stage = database.query(
      "INSERT INTO staged_orders VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    );
    await stageAll(database, records, (record) => {
      const { changes } = stage.run(
        record.id,
        record.petId,
        record.quantity,
        record.shipDate,
        record.status,
        record.complete ? 1 : 0,
      );
      if (changes === 0) throw repeatedId(record.line, "id", record.id);
    });
    return database.transaction(() => applyOrders(database)).immediate();
  } finally {
    database.run("DROP TABLE staged_orders");
  }
}

function applyOrders(database: Database): Imported {
  const count = (sql: string) => Number((database.query(sql).values()[0] as [bigint])[0]);
  const staged = count("SELECT count(*) FROM staged_orders");
  const created = count(
    "SELECT count(*) FROM staged_orders WHERE id NOT IN (SELECT id FROM orders)",
  );
  const { changes } = database
    .query(
      `INSERT INTO orders SELECT s.* FROM staged_orders s LEFT JOIN orders o USING (id)
       WHERE o.id IS NULL OR (s.pet_id, s.quantity, s.status, s.complete)
             <> (o.pet_id, o.quantity, o.status, o.complete) OR s.ship_date IS NOT o.ship_date
       ON CONFLICT (id) DO UPDATE SET pet_id = excluded.pet_id, quantity = excluded.quantity,
         ship_date = excluded.ship_date, status = excluded.status, complete = excluded.complete`,
    )
    .run();
  return { created, changed: changes - created, unchanged: staged - changes };
}

async function stageAll<T>(
  database: Database,
  batches: AsyncIterable<readonly T[]>,
  stage: (record: T) => void,
): Promise<void> {
  // Deferred, and touching temporary tables only: the main file stays unlocked.
  const stageBatch = database.transaction((batch: readonly T[]) => {
    for (const record of batch) stage(record);
  });
  for await (const batch of batches) stageBatch.deferred(batch);
}
