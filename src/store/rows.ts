import type { PetName } from "../domain/catalogue/pets.ts";
import type { GrantedScope, Key } from "../domain/keys/keys.ts";
import type { EpochStart } from "../domain/ledger/epochs.ts";
import type { StoredKeys } from "../domain/ledger/idempotency.ts";
import type { Entry, PetStatus, Stock } from "../domain/ledger/inventory.ts";
import type {
  Cause,
  LedgerRow,
  NamedRow,
  StockRow,
  Tip,
  UndoRow,
} from "../domain/ledger/ledger.ts";
import type { VersionedEntry } from "../domain/ledger/store.ts";
import type { Ban, SavedUsage } from "../domain/usage/usage.ts";
import type { Step, UsagePoint } from "../domain/usage/usage-history.ts";
import { int64Min } from "../domain/values/int64.ts";

/**
 * A row as an engine returns it. Both engines have the same columns and return 64-bit integers as
 * bigints, so both use these column lists and conversions.
 */
export type Row = readonly unknown[];

/** A value that both engines store. */
export type Value = string | number | bigint | Uint8Array | null;

/**
 * The columns of the ledger, with their types in PostgreSQL. `toLedgerRow` and `pushLedgerValues` have the
 * same order.
 */
const ledgerTypes = {
  seq: "int8",
  pet_id: "int8",
  quantity_before: "int8",
  quantity_after: "int8",
  status_before: "text",
  status_after: "text",
  previous: "int8",
  cause: "text",
  key_id: "text",
  request_id: "text",
  reason: "text",
  at: "int8",
};

export const ledgerColumns = Object.keys(ledgerTypes).join(", ");

/** The columns of a row that is added: its content and its hash. */
export const storedLedgerColumns = `${ledgerColumns}, hash`;
export const storedLedgerTypes = [...Object.values(ledgerTypes), "bytea"];

export const entryColumns = "pet_id, quantity, status, version";

export const petNameColumns = "pet_id, name, category, barcode, low_stock_at";

export function toPetName(row: Row): PetName {
  return {
    petId: row[0] as bigint,
    name: row[1] as string,
    category: row[2] as string | null,
    barcode: row[3] as string | null,
    lowStockAt: toNumber(row[4]),
  };
}

export const orderColumns = "id, pet_id, quantity, ship_date, status, complete";

export const keyColumns = `keys.id, keys.name, keys.plan, keys.per_minute, keys.per_day, keys.scopes,
  keys.created_at, keys.expires_at, keys.revoked_at`;

export const usageColumns =
  "key_id, minute_start, minute_count, day_start, day_count, last_used_at";

export const banColumns = "key_id, started_at, until, lifted_at";

export function toEntry(row: Row): Entry {
  return {
    petId: row[0] as bigint,
    quantity: Number(row[1]),
    status: row[2] as PetStatus,
    version: Number(row[3]),
  };
}

export function toLedgerRow(row: Row): LedgerRow {
  return {
    seq: Number(row[0]),
    petId: row[1] as bigint,
    before: toStock(row[2], row[4]),
    after: toStock(row[3], row[5]),
    previous: toNumber(row[6]),
    cause: row[7] as Cause,
    keyId: row[8] as string | null,
    requestId: row[9] as string | null,
    reason: row[10] as string | null,
    at: Number(row[11]),
  };
}

/** Appends the values of a row, so that many rows need one array. */
export function pushLedgerValues(values: Value[], row: LedgerRow): void {
  const { before, after } = row;
  values.push(
    row.seq,
    row.petId,
    before ? before.quantity : null,
    after ? after.quantity : null,
    before ? before.status : null,
    after ? after.status : null,
    row.previous,
    row.cause,
    row.keyId,
    row.requestId,
    row.reason,
    row.at,
  );
}

/** For a query that joins `ledger` and `keys`. */
export const namedRowColumns = `${Object.keys(ledgerTypes)
  .map((column) => `ledger.${column}`)
  .join()}, keys.name`;

export function toNamedRow(row: Row): NamedRow {
  return { ...toLedgerRow(row), keyName: row.at(-1) as string | null };
}

/** A row with the entry's columns and the epoch of its version. */
export function toVersionedEntry(row: Row): VersionedEntry {
  return { entry: toEntry(row), epoch: row[4] as string };
}

export const tipColumns = "seq, at, hash";

export function toTip(row: Row): Tip {
  return { seq: Number(row[0]), at: Number(row[1]), hash: row[2] as string };
}

export const rememberedColumns = "seq, at, records";

export function toStoredKeys(row: Row): StoredKeys {
  return { seq: Number(row[0]), at: Number(row[1]), records: row[2] as Uint8Array };
}

export const stockColumns = "seq, pet_id, quantity_after, status_after";

export function toStockRow(row: Row): StockRow {
  return { seq: Number(row[0]), petId: row[1] as bigint, after: toStock(row[2], row[3]) };
}

export const undoColumns = "seq, pet_id, quantity_before, status_before, previous";

export function toUndoRow(row: Row): UndoRow {
  return {
    seq: Number(row[0]),
    petId: row[1] as bigint,
    before: toStock(row[2], row[3]),
    previous: toNumber(row[4]),
  };
}

function toStock(quantity: unknown, status: unknown): Stock | null {
  return quantity === null ? null : { quantity: Number(quantity), status: status as PetStatus };
}

export function toKey(row: Row): Key {
  return {
    id: row[0] as string,
    name: row[1] as string,
    plan: row[2] as Key["plan"],
    limits: { perMinute: Number(row[3]), perDay: Number(row[4]) },
    scopes: (row[5] as string).split(" ").filter(Boolean) as GrantedScope[],
    createdAt: Number(row[6]),
    expiresAt: toNumber(row[7]),
    revokedAt: toNumber(row[8]),
  };
}

export const pointColumns = "key_id, step, start, admitted, refused";

export function toUsagePoint(row: Row): UsagePoint {
  return {
    keyId: row[0] as string,
    step: row[1] as Step,
    start: Number(row[2]),
    admitted: Number(row[3]),
    refused: Number(row[4]),
  };
}

export function toUsage(row: Row): SavedUsage {
  return {
    keyId: row[0] as string,
    minuteStart: Number(row[1]),
    minuteCount: Number(row[2]),
    dayStart: Number(row[3]),
    dayCount: Number(row[4]),
    lastUsedAt: Number(row[5]),
  };
}

export function toBan(row: Row): Ban {
  return {
    keyId: row[0] as string,
    startedAt: Number(row[1]),
    until: Number(row[2]),
    liftedAt: toNumber(row[3]),
  };
}

export function toEpochStart(row: Row): EpochStart {
  return { epoch: row[0] as string, fromSeq: Number(row[1]) };
}

/** The id at which the page after this one starts. A page after null starts at the smallest id. */
export function firstIdAfter(petId: bigint | null): bigint {
  return petId === null ? int64Min : petId + 1n;
}

export function toNumber(value: unknown): number | null {
  return value === null ? null : Number(value);
}
