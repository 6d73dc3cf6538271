import { isQuantity, isTime, timeMax } from "./schema.ts";

/**
 * What stands for the words of `sharedTables` that the engines write differently. CODE is a text that is
 * compared byte by byte, FLAG is 0 or 1, and LEASE is the type of a lease's holder, with the columns that
 * the engine needs besides. ADDED ends a table whose rows rarely change, UPDATED one whose rows often do.
 * KEYED ends a table that is only read by its key, COUNTED such a table whose rows often change. IS_JSON is
 * what a check requires of the text $1, which is JSON like the pattern $2 with the end $3.
 */
type Words = Readonly<
  Record<
    "CODE" | "FLAG" | "LEASE" | "ADDED" | "UPDATED" | "KEYED" | "COUNTED" | "IS_JSON",
    string
  > &
    Partial<Record<"INTEGER" | "TEXT" | "BLOB", string>>
>;

/** The tables that both engines have, as one of them writes them. */
export function sharedTablesIn({ IS_JSON, ...words }: Words): string {
  return sharedTables
    .replaceAll(/\b[A-Z]+\b/g, (word) => words[word as keyof typeof words] ?? word)
    .replaceAll(/IS_JSON\((\w+), '(.%)(.)'\)/g, IS_JSON);
}

const sharedTables = [
  // The history of epochs. An epoch covers the ledger rows after from_seq, up to the start of the next.
  `CREATE TABLE epochs (
    number   INTEGER PRIMARY KEY,
    epoch    TEXT    NOT NULL UNIQUE CHECK (epoch <> ''),
    from_seq INTEGER NOT NULL CHECK (from_seq >= 0)
  ) ADDED;`,
  `CREATE TABLE pets (
    pet_id       INTEGER PRIMARY KEY,
    name         TEXT NOT NULL CHECK (name <> ''),
    category     TEXT,
    tags         TEXT NOT NULL CHECK (IS_JSON(tags, '[%]')),
    photo_urls   TEXT NOT NULL CHECK (IS_JSON(photo_urls, '[%]')),
    barcode      TEXT,
    low_stock_at INTEGER CHECK (low_stock_at ${isQuantity})
  ) ADDED;`,
  // Pets without a barcode or a threshold need no place in these.
  `CREATE UNIQUE INDEX pets_by_barcode ON pets (barcode) WHERE barcode IS NOT NULL;
  CREATE INDEX pets_with_threshold ON pets (pet_id, low_stock_at) WHERE low_stock_at IS NOT NULL;`,
  // The ledger row that last removed a pet. The rows before it are found from there.
  `CREATE TABLE removed_pets (
    pet_id  INTEGER PRIMARY KEY,
    version INTEGER NOT NULL CHECK (version > 0)
  ) ADDED;`,
  // Idempotency keys, one row for each commit that used some.
  `CREATE TABLE remembered_keys (
    seq     INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    records BLOB    NOT NULL CHECK (length(records) > 0 AND length(records) % 40 = 0)
  ) ADDED;`,
  // The inventory as of certain ledger rows, in packed parts. A part without its checkpoint is
  // unfinished. checkpoint_writer names the process or the instance that may write both.
  `CREATE TABLE checkpoints (
    seq     INTEGER PRIMARY KEY,
    entries INTEGER NOT NULL CHECK (entries >= 0)
  ) ADDED;`,
  `CREATE TABLE checkpoint_parts (
    seq          INTEGER NOT NULL,
    first_pet_id INTEGER NOT NULL,
    data         BLOB    NOT NULL,
    PRIMARY KEY (seq, first_pet_id)
  ) ADDED;`,
  `CREATE TABLE orders (
    id        INTEGER PRIMARY KEY,
    pet_id    INTEGER NOT NULL,
    quantity  INTEGER NOT NULL CHECK (quantity ${isQuantity}),
    ship_date INTEGER CHECK (ship_date BETWEEN -${timeMax} AND ${timeMax}),
    status    TEXT    NOT NULL CHECK (status IN ('placed', 'approved', 'delivered')),
    complete  FLAG NOT NULL CHECK (complete IN (0, 1))
  ) ADDED;`,
  // Units sold, for each pet and UTC day of about the last 28 days, and the last ledger row that they
  // include. The index finds old days of all pets, which are removed together.
  `CREATE TABLE sales (
    pet_id INTEGER,
    day    INTEGER,
    units  INTEGER NOT NULL,
    PRIMARY KEY (pet_id, day)
  ) COUNTED;
  CREATE INDEX sales_by_day ON sales (day);
  CREATE TABLE sales_end (seq INTEGER NOT NULL) UPDATED;
  INSERT INTO sales_end VALUES (0);`,
  `CREATE TABLE keys (
    id         CODE PRIMARY KEY,
    name       TEXT    NOT NULL CHECK (name <> ''),
    plan       TEXT    NOT NULL,
    per_minute INTEGER NOT NULL CHECK (per_minute > 0),
    per_day    INTEGER NOT NULL CHECK (per_day > 0),
    scopes     TEXT    NOT NULL,
    created_at INTEGER NOT NULL CHECK (created_at ${isTime}),
    expires_at INTEGER CHECK (expires_at ${isTime}),
    revoked_at INTEGER CHECK (revoked_at ${isTime})
  ) ADDED;`,
  `CREATE TABLE secrets (
    digest     CODE PRIMARY KEY CHECK (length(digest) = 64),
    key_id     CODE    NOT NULL REFERENCES keys,
    created_at INTEGER NOT NULL CHECK (created_at ${isTime}),
    expires_at INTEGER CHECK (expires_at ${isTime})
  ) ADDED;`,
  `CREATE TABLE sessions (
    digest        CODE    PRIMARY KEY,
    secret_digest CODE    NOT NULL REFERENCES secrets,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL
  ) ADDED;`,
  `CREATE TABLE bans (
    key_id     CODE    NOT NULL REFERENCES keys,
    started_at INTEGER NOT NULL CHECK (started_at ${isTime}),
    until      INTEGER NOT NULL CHECK (until ${isTime}),
    lifted_at  INTEGER CHECK (lifted_at ${isTime}),
    PRIMARY KEY (key_id, started_at)
  ) ADDED;`,
  // The usage of each key over time. Old counts of all keys are removed together.
  `CREATE TABLE usage_points (
    key_id   CODE    NOT NULL,
    step     CODE    NOT NULL CHECK (step IN ('minute', 'day')),
    start    INTEGER NOT NULL,
    admitted INTEGER NOT NULL CHECK (admitted >= 0),
    refused  INTEGER NOT NULL CHECK (refused >= 0),
    PRIMARY KEY (key_id, step, start)
  ) COUNTED;
  CREATE INDEX usage_points_by_start ON usage_points (step, start);`,
  // Requests that got an error. requests_end numbers them: its row is locked until a transaction ends,
  // so that numbers become visible in their order.
  `CREATE TABLE requests (
    seq        INTEGER PRIMARY KEY,
    request_id CODE    NOT NULL UNIQUE,
    key_id     CODE    NOT NULL,
    code       CODE    NOT NULL,
    after_seq  INTEGER NOT NULL,
    error      TEXT    NOT NULL
  ) ADDED;
  CREATE INDEX requests_by_key ON requests (key_id, code, seq);
  CREATE TABLE requests_end (seq INTEGER NOT NULL) UPDATED;
  INSERT INTO requests_end VALUES (0);`,
  `CREATE TABLE audit (
    seq        INTEGER PRIMARY KEY,
    at         INTEGER NOT NULL CHECK (at ${isTime}),
    key_id     TEXT,
    request_id TEXT,
    action     TEXT    NOT NULL CHECK (action <> ''),
    target     TEXT,
    details    TEXT    NOT NULL CHECK (IS_JSON(details, '{%}'))
  ) ADDED;`,
  // What requests with an idempotency key have made, besides rows of the ledger.
  `CREATE TABLE made (
    digest  CODE    PRIMARY KEY CHECK (length(digest) = 32),
    request CODE    NOT NULL CHECK (length(request) = 32),
    id      TEXT    CHECK (id <> ''),
    at      INTEGER NOT NULL CHECK (at ${isTime})
  ) KEYED;
  CREATE INDEX made_by_time ON made (at);`,
  // When each task of maintenance, such as a backup, was last started, and how it ended.
  `CREATE TABLE maintenance (
    task         TEXT    PRIMARY KEY,
    started_at   INTEGER NOT NULL,
    succeeded_at INTEGER,
    failed_at    INTEGER,
    result       TEXT,
    error        TEXT
  ) UPDATED;`,
  // The pets that a person has counted and not applied yet.
  `CREATE TABLE stocktakes (
    key_id  TEXT    PRIMARY KEY REFERENCES keys,
    pet_ids TEXT    NOT NULL,
    at      INTEGER NOT NULL
  ) UPDATED;`,
  // lease_holder names the process or the instance that delivers a webhook, on PostgreSQL until lease_until.
  // The number of an attempt is the value of last_attempt after it was added. No index includes a column
  // that deliveries change: on PostgreSQL, their updates then stay within a page.
  `CREATE TABLE webhooks (
    id                  TEXT    PRIMARY KEY,
    name                TEXT    NOT NULL CHECK (name <> ''),
    url                 TEXT    NOT NULL CHECK (url <> ''),
    filter              TEXT    NOT NULL CHECK (IS_JSON(filter, '{%}')),
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
    lease_holder        LEASE
  ) UPDATED;`,
  `CREATE TABLE webhook_attempts (
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
  ) ADDED;`,
].join("\n");
