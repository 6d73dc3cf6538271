import { genesisHash } from "../../domain/ledger/chain.ts";
import { isQuantity, isTime, timeMax } from "../schema.ts";

/**
 * Every table of a SQLite store. Its number is `schemaNumber`, which a change here raises. The first one is
 * `head`: its page then stays the second one, also after VACUUM, and `engine/overwritten.ts` finds it.
 */
export const schema = `
  CREATE TABLE head (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    environment  TEXT    NOT NULL CHECK (environment IN ('production', 'staging')),
    epoch        TEXT    NOT NULL CHECK (epoch <> ''),
    seq          INTEGER NOT NULL CHECK (seq >= 0),
    at           INTEGER NOT NULL,
    keys_version INTEGER NOT NULL CHECK (keys_version >= 0),
    hash         TEXT    NOT NULL DEFAULT '${genesisHash}' CHECK (length(hash) = 64)
  ) STRICT;

  -- The history of epochs. An epoch covers the ledger rows after from_seq, up to the start of the next.
  CREATE TABLE epochs (
    number   INTEGER PRIMARY KEY,
    epoch    TEXT    NOT NULL UNIQUE CHECK (epoch <> ''),
    from_seq INTEGER NOT NULL CHECK (from_seq >= 0)
  ) STRICT;

  CREATE TABLE pets (
    pet_id       INTEGER PRIMARY KEY,
    name         TEXT NOT NULL CHECK (name <> ''),
    category     TEXT,
    tags         TEXT NOT NULL CHECK (json_valid(tags) AND tags LIKE '[%'),
    photo_urls   TEXT NOT NULL CHECK (json_valid(photo_urls) AND photo_urls LIKE '[%'),
    barcode      TEXT,
    low_stock_at INTEGER CHECK (low_stock_at ${isQuantity})
  ) STRICT;

  -- Pets without a barcode or a threshold need no place in these.
  CREATE UNIQUE INDEX pets_by_barcode ON pets (barcode) WHERE barcode IS NOT NULL;
  CREATE INDEX pets_with_threshold ON pets (pet_id, low_stock_at) WHERE low_stock_at IS NOT NULL;

  -- The ledger row that last removed a pet. The rows before it are found from there.
  CREATE TABLE removed_pets (
    pet_id  INTEGER PRIMARY KEY,
    version INTEGER NOT NULL CHECK (version > 0)
  ) STRICT;

  CREATE TABLE inventory (
    pet_id   INTEGER PRIMARY KEY REFERENCES pets,
    quantity INTEGER NOT NULL CHECK (quantity ${isQuantity}),
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
    at              INTEGER NOT NULL,
    hash            BLOB NOT NULL CHECK (length(hash) = 32)
  ) STRICT;

  CREATE TRIGGER ledger_rows_stay BEFORE UPDATE ON ledger
  BEGIN SELECT RAISE(ABORT, 'ledger rows are never changed'); END;

  CREATE TRIGGER ledger_rows_remain BEFORE DELETE ON ledger
  BEGIN SELECT RAISE(ABORT, 'ledger rows are never deleted'); END;

  -- Idempotency keys, one row for each commit that used some.
  CREATE TABLE remembered_keys (
    seq     INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    records BLOB    NOT NULL CHECK (length(records) > 0 AND length(records) % 40 = 0)
  ) STRICT;

  -- The inventory as of certain ledger rows, in packed parts. A part without its checkpoint is
  -- unfinished. checkpoint_writer names the process that may write both.
  CREATE TABLE checkpoints (
    seq     INTEGER PRIMARY KEY,
    entries INTEGER NOT NULL CHECK (entries >= 0)
  ) STRICT;

  CREATE TABLE checkpoint_parts (
    seq          INTEGER NOT NULL,
    first_pet_id INTEGER NOT NULL,
    data         BLOB    NOT NULL,
    PRIMARY KEY (seq, first_pet_id)
  ) STRICT;

  CREATE TABLE checkpoint_writer (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL
  ) STRICT;
  INSERT INTO checkpoint_writer (id, name) VALUES (1, '');

  CREATE TABLE orders (
    id        INTEGER PRIMARY KEY,
    pet_id    INTEGER NOT NULL,
    quantity  INTEGER NOT NULL CHECK (quantity ${isQuantity}),
    ship_date INTEGER CHECK (ship_date BETWEEN -${timeMax} AND ${timeMax}),
    status    TEXT    NOT NULL CHECK (status IN ('placed', 'approved', 'delivered')),
    complete  INTEGER NOT NULL CHECK (complete IN (0, 1))
  ) STRICT;

  -- Units sold, for each pet and UTC day of about the last 28 days, and the last ledger row that they
  -- include. The index finds old days of all pets, which are removed together.
  CREATE TABLE sales (
    pet_id INTEGER,
    day    INTEGER,
    units  INTEGER NOT NULL,
    PRIMARY KEY (pet_id, day)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sales_by_day ON sales (day);
  CREATE TABLE sales_end (seq INTEGER NOT NULL) STRICT;
  INSERT INTO sales_end VALUES (0);

  CREATE TABLE keys (
    id         TEXT PRIMARY KEY,
    name       TEXT    NOT NULL CHECK (name <> ''),
    plan       TEXT    NOT NULL,
    per_minute INTEGER NOT NULL CHECK (per_minute > 0),
    per_day    INTEGER NOT NULL CHECK (per_day > 0),
    scopes     TEXT    NOT NULL,
    created_at INTEGER NOT NULL CHECK (created_at ${isTime}),
    expires_at INTEGER CHECK (expires_at ${isTime}),
    revoked_at INTEGER CHECK (revoked_at ${isTime})
  ) STRICT;

  CREATE TABLE secrets (
    digest     TEXT PRIMARY KEY CHECK (length(digest) = 64),
    key_id     TEXT    NOT NULL REFERENCES keys,
    created_at INTEGER NOT NULL CHECK (created_at ${isTime}),
    expires_at INTEGER CHECK (expires_at ${isTime})
  ) STRICT;

  CREATE TABLE sessions (
    digest        TEXT    PRIMARY KEY,
    secret_digest TEXT    NOT NULL REFERENCES secrets,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE usage (
    key_id       TEXT PRIMARY KEY REFERENCES keys,
    minute_start INTEGER NOT NULL,
    minute_count INTEGER NOT NULL CHECK (minute_count >= 0),
    day_start    INTEGER NOT NULL,
    day_count    INTEGER NOT NULL CHECK (day_count >= 0),
    last_used_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE bans (
    key_id     TEXT    NOT NULL REFERENCES keys,
    started_at INTEGER NOT NULL CHECK (started_at ${isTime}),
    until      INTEGER NOT NULL CHECK (until ${isTime}),
    lifted_at  INTEGER CHECK (lifted_at ${isTime}),
    PRIMARY KEY (key_id, started_at)
  ) STRICT;

  -- The usage of each key over time. Old counts of all keys are removed together.
  CREATE TABLE usage_points (
    key_id   TEXT    NOT NULL,
    step     TEXT    NOT NULL CHECK (step IN ('minute', 'day')),
    start    INTEGER NOT NULL,
    admitted INTEGER NOT NULL CHECK (admitted >= 0),
    refused  INTEGER NOT NULL CHECK (refused >= 0),
    PRIMARY KEY (key_id, step, start)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_points_by_start ON usage_points (step, start);

  -- Requests that got an error. requests_end numbers them: its row is locked until a transaction ends,
  -- so that numbers become visible in their order.
  CREATE TABLE requests (
    seq        INTEGER PRIMARY KEY,
    request_id TEXT    NOT NULL UNIQUE,
    key_id     TEXT    NOT NULL,
    code       TEXT    NOT NULL,
    after_seq  INTEGER NOT NULL,
    error      TEXT    NOT NULL
  ) STRICT;
  CREATE INDEX requests_by_key ON requests (key_id, code, seq);
  CREATE TABLE requests_end (seq INTEGER NOT NULL) STRICT;
  INSERT INTO requests_end VALUES (0);

  CREATE TABLE audit (
    seq        INTEGER PRIMARY KEY,
    at         INTEGER NOT NULL CHECK (at ${isTime}),
    key_id     TEXT,
    request_id TEXT,
    action     TEXT    NOT NULL CHECK (action <> ''),
    target     TEXT,
    details    TEXT    NOT NULL CHECK (json_valid(details) AND details LIKE '{%')
  ) STRICT;

  CREATE TRIGGER audit_rows_stay BEFORE UPDATE ON audit
  BEGIN SELECT RAISE(ABORT, 'audit rows are never changed'); END;

  CREATE TRIGGER audit_rows_remain BEFORE DELETE ON audit
  BEGIN SELECT RAISE(ABORT, 'audit rows are never deleted'); END;

  -- What requests with an idempotency key have made, besides rows of the ledger.
  CREATE TABLE made (
    digest  TEXT    PRIMARY KEY CHECK (length(digest) = 32),
    request TEXT    NOT NULL CHECK (length(request) = 32),
    id      TEXT    CHECK (id <> ''),
    at      INTEGER NOT NULL CHECK (at ${isTime})
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX made_by_time ON made (at);

  -- When each task of maintenance, such as a backup, was last started, and how it ended.
  CREATE TABLE maintenance (
    task         TEXT    PRIMARY KEY,
    started_at   INTEGER NOT NULL,
    succeeded_at INTEGER,
    failed_at    INTEGER,
    result       TEXT,
    error        TEXT
  ) STRICT;

  -- The pets that a person has counted and not applied yet.
  CREATE TABLE stocktakes (
    key_id  TEXT    PRIMARY KEY REFERENCES keys,
    pet_ids TEXT    NOT NULL,
    at      INTEGER NOT NULL
  ) STRICT;

  -- lease_holder names the process that delivers a webhook. The number of an attempt is the value of
  -- last_attempt after it was added.
  CREATE TABLE webhooks (
    id                  TEXT    PRIMARY KEY,
    name                TEXT    NOT NULL CHECK (name <> ''),
    url                 TEXT    NOT NULL CHECK (url <> ''),
    filter              TEXT    NOT NULL CHECK (json_valid(filter) AND filter LIKE '{%'),
    secret              TEXT    NOT NULL CHECK (substr(secret, 1, 6) = 'whsec_'),
    previous_secret     TEXT CHECK (substr(previous_secret, 1, 6) = 'whsec_'),
    previous_expires_at INTEGER CHECK (previous_expires_at ${isTime}),
    created_at          INTEGER NOT NULL CHECK (created_at ${isTime}),
    state               TEXT    NOT NULL CHECK (state IN ('active', 'paused', 'disabled')),
    state_reason        TEXT,
    version             INTEGER NOT NULL,
    replays             INTEGER NOT NULL CHECK (replays >= 0),
    cursor_epoch        TEXT    NOT NULL CHECK (cursor_epoch <> ''),
    cursor_seq          INTEGER NOT NULL CHECK (cursor_seq >= 0),
    failures            INTEGER NOT NULL CHECK (failures >= 0),
    failing_since       INTEGER CHECK (failing_since ${isTime}),
    next_attempt_at     INTEGER NOT NULL CHECK (next_attempt_at ${isTime}),
    last_attempt        INTEGER NOT NULL DEFAULT 0,
    lease_holder        TEXT
  ) STRICT;

  CREATE TABLE webhook_attempts (
    webhook_id  TEXT    NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    number      INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    message_id  TEXT    NOT NULL,
    first_seq   INTEGER NOT NULL,
    last_seq    INTEGER NOT NULL,
    changes     INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    status      INTEGER,
    error       TEXT,
    answer      TEXT    NOT NULL,
    PRIMARY KEY (webhook_id, number)
  ) STRICT;
  `;
