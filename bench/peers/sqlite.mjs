// The peer's store on better-sqlite3: prepared statements, WAL, every commit flushed.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import Database from "better-sqlite3";

/** Rolls a batch back. */
class UnknownPet extends Error {}

export async function openSqlite(file, key, catalogue) {
  const database = new Database(file);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec(`
    CREATE TABLE IF NOT EXISTS api_keys (hash TEXT PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS inventory (
      petId INTEGER PRIMARY KEY, quantity INTEGER NOT NULL, status TEXT NOT NULL);
  `);
  database.prepare("INSERT OR IGNORE INTO api_keys VALUES (?, 1)").run(hashOf(key));
  if (catalogue !== undefined) importCatalogue(database, catalogue);

  const findKey = database.prepare("SELECT id FROM api_keys WHERE hash = ?").pluck();
  const list = database.prepare("SELECT petId, quantity, status FROM inventory ORDER BY petId");
  const update = database.prepare(
    "UPDATE inventory SET quantity = ? WHERE petId = ? RETURNING petId, quantity, status",
  );
  const updateEach = database.transaction((changes) =>
    changes.map(({ petId, quantity }) => {
      const entry = update.get(quantity, petId);
      if (entry === undefined) throw new UnknownPet();
      return entry;
    }),
  );
  return {
    findKey: (candidate) => findKey.get(hashOf(candidate)),
    listInventory: () => list.all(),
    updateInventory: (petId, quantity) => update.get(quantity, petId),
    /** All or none. */
    updateAll(changes) {
      try {
        return updateEach(changes);
      } catch (error) {
        if (error instanceof UnknownPet) return undefined;
        throw error;
      }
    },
    close: () => database.close(),
  };
}

function importCatalogue(database, file) {
  const insert = database.prepare("INSERT OR REPLACE INTO inventory VALUES (?, ?, ?)");
  database.transaction(() => {
    for (const line of readFileSync(file, "utf8").split("\n")) {
      if (line === "") continue;
      const pet = JSON.parse(line);
      insert.run(pet.petId, pet.quantity, pet.status);
    }
  })();
}

export function hashOf(key) {
  return createHash("sha256").update(key).digest("hex");
}
