import type { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import { Refusal } from "../../domain/errors.ts";
import type { Environment } from "../../domain/keys.ts";

/**
 * Numbered steps, applied in order and never edited once released. `PRAGMA user_version` holds
 * the number of the last one applied.
 */
const migrations: readonly string[] = [
  `
  CREATE TABLE head (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    environment  TEXT    NOT NULL,
    epoch        TEXT    NOT NULL,
    seq          INTEGER NOT NULL CHECK (seq >= 0),
    at           INTEGER NOT NULL,
    keys_version INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE pets (
    pet_id     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    category   TEXT,
    tags       TEXT NOT NULL,
    photo_urls TEXT NOT NULL
  ) STRICT;

  CREATE TABLE inventory (
    pet_id   INTEGER PRIMARY KEY REFERENCES pets,
    quantity INTEGER NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    status   TEXT    NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    version  INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE ledger (
    seq             INTEGER PRIMARY KEY,
    pet_id          INTEGER NOT NULL,
    quantity_before INTEGER CHECK (quantity_before >= 0),
    quantity_after  INTEGER CHECK (quantity_after >= 0),
    status_before   TEXT CHECK (status_before IN ('available', 'pending', 'sold')),
    status_after    TEXT CHECK (status_after IN ('available', 'pending', 'sold')),
    previous        INTEGER CHECK (previous < seq),
    cause           TEXT NOT NULL,
    key_id          TEXT,
    request_id      TEXT,
    reason          TEXT,
    at              INTEGER NOT NULL
  ) STRICT;

  CREATE TRIGGER ledger_rows_stay BEFORE UPDATE ON ledger
  BEGIN SELECT RAISE(ABORT, 'ledger rows are never changed'); END;

  CREATE TRIGGER ledger_rows_remain BEFORE DELETE ON ledger
  BEGIN SELECT RAISE(ABORT, 'ledger rows are never deleted'); END;

  CREATE TABLE orders (
    id        INTEGER PRIMARY KEY,
    pet_id    INTEGER NOT NULL,
    quantity  INTEGER NOT NULL CHECK (quantity >= 0),
    ship_date INTEGER,
    status    TEXT    NOT NULL CHECK (status IN ('placed', 'approved', 'delivered')),
    complete  INTEGER NOT NULL CHECK (complete IN (0, 1))
  ) STRICT;

  CREATE TABLE keys (
    id         TEXT PRIMARY KEY,
    name       TEXT    NOT NULL,
    plan       TEXT    NOT NULL,
    per_minute INTEGER NOT NULL CHECK (per_minute > 0),
    per_day    INTEGER NOT NULL CHECK (per_day > 0),
    scopes     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
  ) STRICT;

  CREATE TABLE secrets (
    digest     TEXT PRIMARY KEY,
    key_id     TEXT    NOT NULL REFERENCES keys,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
  ) STRICT;

  CREATE TABLE usage (
    key_id       TEXT PRIMARY KEY REFERENCES keys,
    minute_start INTEGER NOT NULL,
    minute_count INTEGER NOT NULL,
    day_start    INTEGER NOT NULL,
    day_count    INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE bans (
    key_id     TEXT    NOT NULL REFERENCES keys,
    started_at INTEGER NOT NULL,
    until      INTEGER NOT NULL,
    lifted_at  INTEGER,
    PRIMARY KEY (key_id, started_at)
  ) STRICT;
  `,
];

/** Brings the schema up to date and makes sure that the file belongs to this environment. */
export function migrate(database: Database, environment: Environment): void {
  refuseForeign(database);
  if (versionOf(database) < migrations.length) {
    database
      .transaction(() => {
        // Read again under the lock: another process may have been first.
        for (let version = versionOf(database); version < migrations.length; version++) {
          database.run(migrations[version]!);
          database.run(`PRAGMA user_version = ${version + 1}`);
        }
        database.run(
          `INSERT INTO head (id, environment, epoch, seq, at, keys_version)
           VALUES (1, ?, ?, 0, 0, 0) ON CONFLICT DO NOTHING`,
          [environment, randomUUID()],
        );
      })
      .immediate();
  }
  if (versionOf(database) > migrations.length) {
    throw new Refusal("unavailable", "the database was made by a newer version of petstore");
  }
  const row = database.query("SELECT environment FROM head").get() as {
    environment: string;
  } | null;
  if (!row) throw new Refusal("unavailable", "the database has lost its head; restore a backup");
  if (row.environment !== environment) {
    throw new Refusal(
      "unavailable",
      `the database belongs to the ${row.environment} environment, not to ${environment}`,
    );
  }
}

/** Another program's file is not ours to add tables to. */
function refuseForeign(database: Database): void {
  const tables = database
    .query(
      "SELECT count(*), coalesce(sum(name = 'head'), 0) FROM sqlite_schema WHERE type = 'table'",
    )
    .values()[0] as [bigint, bigint];
  if (tables[0] > 0n && tables[1] === 0n) {
    throw new Refusal("unavailable", "the store's file is not a petstore database");
  }
}

function versionOf(database: Database): number {
  const row = database.query("PRAGMA user_version").get() as { user_version: number | bigint };
  return Number(row.user_version);
}
