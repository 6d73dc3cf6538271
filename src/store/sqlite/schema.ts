import { genesisHash } from "../../domain/ledger/chain.ts";
import { isQuantity } from "../schema.ts";
import { sharedTablesIn } from "../shared-tables.ts";

/** Every table of a SQLite store. Its number is `schemaNumber`, which a change here raises. */
export const schema = [
  sharedTablesIn({
    CODE: "TEXT",
    FLAG: "INTEGER",
    LEASE: "TEXT",
    ADDED: "STRICT",
    UPDATED: "STRICT",
    KEYED: "STRICT, WITHOUT ROWID",
    COUNTED: "STRICT, WITHOUT ROWID",
    IS_JSON: "json_valid($1) AND $1 LIKE '$2'",
  }),
  `CREATE TABLE head (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    environment  TEXT    NOT NULL CHECK (environment IN ('production', 'staging')),
    epoch        TEXT    NOT NULL CHECK (epoch <> ''),
    seq          INTEGER NOT NULL CHECK (seq >= 0),
    at           INTEGER NOT NULL,
    keys_version INTEGER NOT NULL CHECK (keys_version >= 0),
    hash         TEXT    NOT NULL DEFAULT '${genesisHash}' CHECK (length(hash) = 64)
  ) STRICT;`,
  `CREATE TABLE inventory (
    pet_id   INTEGER PRIMARY KEY REFERENCES pets,
    quantity INTEGER NOT NULL CHECK (quantity ${isQuantity}),
    status   TEXT    NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    version  INTEGER NOT NULL
  ) STRICT;`,
  `CREATE TABLE ledger (
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
    at              INTEGER NOT NULL,
    hash            BLOB NOT NULL CHECK (length(hash) = 32)
  ) STRICT;`,
  `CREATE TRIGGER ledger_rows_stay BEFORE UPDATE ON ledger
  BEGIN SELECT RAISE(ABORT, 'ledger rows are never changed'); END;`,
  `CREATE TRIGGER ledger_rows_remain BEFORE DELETE ON ledger
  BEGIN SELECT RAISE(ABORT, 'ledger rows are never deleted'); END;`,
  `CREATE TABLE checkpoint_writer (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL
  ) STRICT;
  INSERT INTO checkpoint_writer (id, name) VALUES (1, '');`,
  `CREATE TABLE usage (
    key_id       TEXT PRIMARY KEY REFERENCES keys,
    minute_start INTEGER NOT NULL,
    minute_count INTEGER NOT NULL CHECK (minute_count >= 0),
    day_start    INTEGER NOT NULL,
    day_count    INTEGER NOT NULL CHECK (day_count >= 0),
    last_used_at INTEGER NOT NULL
  ) STRICT;`,
  `CREATE TRIGGER audit_rows_stay BEFORE UPDATE ON audit
  BEGIN SELECT RAISE(ABORT, 'audit rows are never changed'); END;`,
  `CREATE TRIGGER audit_rows_remain BEFORE DELETE ON audit
  BEGIN SELECT RAISE(ABORT, 'audit rows are never deleted'); END;`,
].join("\n");
