/** The tables of version 0.1.0. */
export const initial = `
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
  `;
