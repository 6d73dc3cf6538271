import { Refusal } from "./errors.ts";
import { isPetStatus, petStatuses, quantityMax, readQuantity } from "./inventory.ts";
import { type OrderRecord, type OrderStatus, orderStatuses } from "./orders.ts";
import type { PetRecord } from "./pets.ts";
import { parseInstant } from "./values/instants.ts";
import { int64Max, int64Min } from "./values/int64.ts";
import { JsonNumber } from "./values/json.ts";

/** What one row of an import file says, before any rule was applied. Undefined: not given. */
export type Fields = Readonly<Record<string, unknown>>;

export const petColumns = [
  "petId",
  "name",
  "category",
  "tags",
  "photoUrls",
  "status",
  "quantity",
] as const;

export const orderColumns = ["id", "petId", "quantity", "shipDate", "status", "complete"] as const;

const textCharactersMax = 1_000;
const listItemsMax = 100;

/** Judges one row; the refusal names the line, the field and the rule. */
export function toPetRecord(line: number, fields: Fields): PetRecord {
  const row = openRow(line, fields, petColumns);
  return {
    line,
    petId: row.required("petId", int64),
    name: row.optional("name", textRule),
    category: fields.category === null ? null : row.optional("category", textRule),
    tags: row.optional("tags", listRule),
    photoUrls: row.optional("photoUrls", listRule),
    status: row.optional("status", petStatus),
    quantity: row.optional("quantity", quantity),
  };
}

export function toOrderRecord(line: number, fields: Fields): OrderRecord {
  const row = openRow(line, fields, orderColumns);
  return {
    line,
    id: row.required("id", int64),
    petId: row.required("petId", int64),
    quantity: row.required("quantity", quantity),
    shipDate: fields.shipDate === null ? null : (row.optional("shipDate", instant) ?? null),
    status: row.required("status", orderStatus),
    complete: row.optional("complete", flag) ?? false,
  };
}

/** Rules that only a store can apply, once all rows are staged; both engines refuse in these words. */
export function repeatedId(line: unknown, field: "petId" | "id", id: unknown): Refusal {
  return new Refusal("invalid_request", `line ${line}: field '${field}': ${id} was already given`);
}

export function namelessPet(line: unknown, petId: unknown): Refusal {
  const rule = `field 'name' is required for a new pet (petId ${petId})`;
  return new Refusal("invalid_request", `line ${line}: ${rule}`);
}

/** A rule: its words, and what it makes of a value it accepts. */
interface Rule<T> {
  readonly words: string;
  readonly read: (value: unknown) => T | undefined;
}

function openRow(line: number, fields: Fields, columns: readonly string[]) {
  const fail = (field: string, words: string): never => {
    throw new Refusal("invalid_request", `line ${line}: field '${field}' ${words}`);
  };
  for (const field of Object.keys(fields)) {
    if (!columns.includes(field)) fail(field, `is not one of ${columns.join(", ")}`);
  }
  const optional = <T>(field: string, rule: Rule<T>): T | undefined => {
    const value = fields[field];
    if (value === undefined) return undefined;
    const read = rule.read(value);
    return read === undefined ? fail(field, rule.words) : read;
  };
  const required = <T>(field: string, rule: Rule<T>): T =>
    optional(field, rule) ?? fail(field, "is required");
  return { optional, required };
}

const int64: Rule<bigint> = {
  words: "must be a 64-bit integer",
  read(value) {
    const integer = value instanceof JsonNumber ? value.toInteger() : undefined;
    return typeof integer === "bigint" && integer >= int64Min && integer <= int64Max
      ? integer
      : undefined;
  },
};

const quantity: Rule<number> = {
  words: `must be an integer from 0 to ${quantityMax}`,
  read: readQuantity,
};

export const textRule: Rule<string> = {
  words: `must be a text of 1 to ${textCharactersMax} characters`,
  read: (value) => (isText(value) && value.length > 0 ? value : undefined),
};

export const listRule: Rule<readonly string[]> = {
  words: `must be a list of at most ${listItemsMax} texts of 1 to ${textCharactersMax} characters`,
  read: (value) =>
    Array.isArray(value) &&
    value.length <= listItemsMax &&
    value.every((item) => isText(item) && item.length > 0)
      ? (value as string[])
      : undefined,
};

const petStatus: Rule<(typeof petStatuses)[number]> = {
  words: `must be one of ${petStatuses.join(", ")}`,
  read: (value) => (isPetStatus(value) ? value : undefined),
};

const orderStatus: Rule<OrderStatus> = {
  words: `must be one of ${orderStatuses.join(", ")}`,
  read: (value) => orderStatuses.find((status) => status === value),
};

const flag: Rule<boolean> = {
  words: "must be true or false",
  read: (value) => (typeof value === "boolean" ? value : undefined),
};

const instant: Rule<number> = {
  words: "must be a date such as 2026-05-01 or 2026-05-01T12:00:00Z",
  read: (value) => (typeof value === "string" ? parseInstant(value) : undefined),
};

/** Both engines store exactly what these characters say: no NUL, no half of a surrogate pair. */
function isText(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= textCharactersMax &&
    value.isWellFormed() &&
    !value.includes("\0")
  );
}
