import type { Database } from "bun:sqlite";
import type { StepTerms } from "../../schema-versions.ts";
import { initial } from "./1-initial.ts";
import { chain } from "./3-chain.ts";
import { checkpoints } from "./5-checkpoints.ts";
import { webhooks } from "./6-webhooks.ts";
import { operators } from "./8-operators.ts";
import { usagePoints } from "./9-usage-points.ts";

/** One step of the schema. It runs inside the transaction of the migration. */
export interface Step extends StepTerms {
  /** SQL, or a function for what SQL cannot do. */
  readonly apply: string | ((database: Database) => void);
}

/**
 * The history of epochs. A store of an earlier version knows only its current epoch, so every row
 * counts as part of it.
 */
const epochs = `
  CREATE TABLE epochs (
    number   INTEGER PRIMARY KEY,
    epoch    TEXT    NOT NULL UNIQUE,
    from_seq INTEGER NOT NULL CHECK (from_seq >= 0)
  ) STRICT;
  INSERT INTO epochs (epoch, from_seq) SELECT epoch, 0 FROM head;
  `;

/** Idempotency keys, one row for each commit that used some. */
const rememberedKeys = `
  CREATE TABLE remembered_keys (
    seq     INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    records BLOB    NOT NULL CHECK (length(records) > 0 AND length(records) % 40 = 0)
  ) STRICT;
  `;

/** When each task of maintenance, such as a backup, was last started, and how it ended. */
const maintenance = `
  CREATE TABLE maintenance (
    task         TEXT    PRIMARY KEY,
    started_at   INTEGER NOT NULL,
    succeeded_at INTEGER,
    failed_at    INTEGER,
    result       TEXT,
    error        TEXT
  ) STRICT;
  `;

/**
 * For the work in a shop: barcodes and thresholds of pets, what was sold, and what is being counted. Two
 * pets cannot have the same barcode, and pets without one need no place in the index. Sales are units per
 * pet and UTC day, for about 28 days, and the last ledger row that they include. The index by day finds
 * old days of all pets, which are removed together. A stocktake has the pets that a person has counted and
 * not applied yet.
 */
const shopWork = `
  ALTER TABLE pets ADD COLUMN barcode TEXT;
  ALTER TABLE pets ADD COLUMN low_stock_at INTEGER;
  CREATE UNIQUE INDEX pets_by_barcode ON pets (barcode) WHERE barcode IS NOT NULL;
  CREATE INDEX pets_with_threshold ON pets (pet_id, low_stock_at) WHERE low_stock_at IS NOT NULL;
  CREATE TABLE sales (pet_id INTEGER, day INTEGER, units INTEGER NOT NULL, PRIMARY KEY (pet_id, day))
    STRICT, WITHOUT ROWID;
  CREATE INDEX sales_by_day ON sales (day);
  CREATE TABLE sales_end (seq INTEGER NOT NULL) STRICT;
  INSERT INTO sales_end VALUES (0);
  CREATE TABLE stocktakes (
    key_id TEXT PRIMARY KEY REFERENCES keys, pet_ids TEXT NOT NULL, at INTEGER NOT NULL) STRICT`;

/**
 * Requests that got an error. The end numbers them: its row is locked until a transaction ends, so that
 * numbers become visible in their order.
 */
const requests = `
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
  INSERT INTO requests_end VALUES (0)`;

/**
 * The steps of the schema, in order. A released step never changes. `PRAGMA user_version` is the
 * number of steps that were applied.
 */
export const steps: readonly Step[] = [
  { apply: initial, release: "0.1.0" },
  { apply: epochs, release: "0.3.0" },
  {
    apply: chain,
    release: "0.4.0",
  },
  { apply: rememberedKeys, release: "0.4.0" },
  { apply: checkpoints, release: "0.4.0" },
  { apply: webhooks, release: "0.5.0" },
  { apply: maintenance, release: "0.6.0" },
  {
    apply: operators,
    release: "0.7.0",
  },
  {
    apply: usagePoints,
    release: "0.10.0",
  },
  {
    apply: shopWork,
    release: "0.13.0",
  },
  { apply: requests, release: "0.14.0" },
];
