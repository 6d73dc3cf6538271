import type { StepTerms } from "../../schema-versions.ts";
import { initial } from "./1-initial.ts";
import { boundedRows } from "./2-bounded-rows.ts";
import { epochs } from "./3-epochs.ts";
import { chain } from "./4-chain.ts";
import { rememberedKeys } from "./5-remembered-keys.ts";
import { entries } from "./6-entries.ts";
import { checkpoints } from "./7-checkpoints.ts";
import { webhooks } from "./8-webhooks.ts";
import { maintenance } from "./9-maintenance.ts";
import { operators } from "./10-operators.ts";
import { setQuantities } from "./11-set-quantities.ts";
import { timelyUpdates } from "./12-timely-updates.ts";
import { usagePoints } from "./13-usage-points.ts";

/** One step of the schema. */
export interface Step extends StepTerms {
  readonly text: string;
  /**
   * The oldest version of the schema whose code still works after this step. While instances are
   * replaced one by one, two releases use the database at once. A step therefore only adds, and a
   * later release removes what is no longer used.
   */
  readonly fits: number;
}

/**
 * For the work in a shop: barcodes and thresholds of pets, what was sold, and what is being counted. Two
 * pets cannot have the same barcode, and pets without one need no place in the index. Sales are units per
 * pet and UTC day, for about 28 days, and the last ledger row that they include. The index by day finds
 * old days of all pets, which are removed together. A stocktake has the pets that a person has counted and
 * not applied yet.
 */
const shopWork = `
  ALTER TABLE pets ADD COLUMN barcode text;
  ALTER TABLE pets ADD COLUMN low_stock_at int8;
  CREATE UNIQUE INDEX pets_by_barcode ON pets (barcode) WHERE barcode IS NOT NULL;
  CREATE INDEX pets_with_threshold ON pets (pet_id, low_stock_at) WHERE low_stock_at IS NOT NULL;
  CREATE TABLE sales (pet_id int8, day int8, units int8 NOT NULL, PRIMARY KEY (pet_id, day))
    WITH (fillfactor = 80);
  CREATE INDEX sales_by_day ON sales (day);
  CREATE TABLE sales_end (seq int8 NOT NULL) WITH (fillfactor = 50);
  INSERT INTO sales_end VALUES (0);
  CREATE TABLE stocktakes (
    key_id text PRIMARY KEY REFERENCES keys, pet_ids text NOT NULL, at int8 NOT NULL
  ) WITH (fillfactor = 50)`;

/**
 * Requests that got an error. The end numbers them: its row is locked until a transaction ends, so that
 * numbers become visible in their order.
 */
const requests = `
  CREATE TABLE requests (
    seq        int8 PRIMARY KEY,
    request_id text COLLATE "C" NOT NULL UNIQUE,
    key_id     text COLLATE "C" NOT NULL,
    code       text COLLATE "C" NOT NULL,
    after_seq  int8 NOT NULL,
    error      text NOT NULL
  );
  CREATE INDEX requests_by_key ON requests (key_id, code, seq);
  CREATE TABLE requests_end (seq int8 NOT NULL) WITH (fillfactor = 50);
  INSERT INTO requests_end VALUES (0)`;

/** Numbered from 1, applied in order and never edited once released. */
export const steps: readonly Step[] = [
  { text: initial, fits: 1, release: "0.1.0" },
  // 0.1.0 reads the head and counts requests in rows that this step removes.
  {
    text: boundedRows,
    fits: 2,
    release: "0.2.0",
  },
  { text: epochs, fits: 2, release: "0.3.0" },
  // Earlier releases add rows without a hash.
  {
    text: chain,
    fits: 4,
    release: "0.4.0",
  },
  {
    text: rememberedKeys,
    fits: 4,
    release: "0.4.0",
  },
  { text: entries, fits: 4, release: "0.4.0" },
  { text: checkpoints, fits: 4, release: "0.4.0" },
  { text: webhooks, fits: 4, release: "0.5.0" },
  { text: maintenance, fits: 4, release: "0.6.0" },
  {
    text: operators,
    fits: 4,
    release: "0.7.0",
  },
  {
    text: setQuantities,
    fits: 4,
    release: "0.8.0",
  },
  {
    text: timelyUpdates,
    fits: 4,
    release: "0.9.0",
  },
  {
    text: usagePoints,
    fits: 4,
    release: "0.10.0",
  },
  {
    text: shopWork,
    fits: 4,
    release: "0.13.0",
  },
  {
    text: requests,
    fits: 4,
    release: "0.14.0",
  },
];
