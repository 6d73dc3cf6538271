import { isPetStatus, petStatuses, quantityMax, readQuantity } from "../ledger/inventory.ts";
import { parseInt64 } from "../values/int64.ts";
import { JsonNumber } from "../values/json.ts";
import { isReason, reasonCharactersMax } from "../values/texts.ts";
import { parseInstant } from "../values/times.ts";
import { type Problem, type Problems, shownValue } from "./import-problems.ts";
import { type OrderRecord, type OrderStatus, orderStatuses } from "./orders.ts";
import type { PetRecord } from "./pets.ts";

/** The values of one row of an import file, not yet checked. Undefined means not given. */
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

export const textCharactersMax = 1_000;
export const listItemsMax = 100;

/**
 * Checks one row and adds its problems. Returns an empty list for a row without an id. A row with
 * another problem is returned as bad, so that a second row with its id is found too.
 */
export function toPetRecord(line: number, fields: Fields, problems: Problems): PetRecord | [] {
  const row = openRow(line, fields, petColumns, problems);
  const petId = row.required("petId", idRule);
  const record = {
    line,
    name: row.optional("name", textRule),
    category: fields.category === null ? null : row.optional("category", textRule),
    tags: row.optional("tags", listRule),
    photoUrls: row.optional("photoUrls", listRule),
    status: row.optional("status", petStatus),
    quantity: row.optional("quantity", quantity),
  };
  return petId === undefined ? [] : { petId, ...record, isBad: row.isBad() };
}

export function toOrderRecord(line: number, fields: Fields, problems: Problems): OrderRecord | [] {
  const row = openRow(line, fields, orderColumns, problems);
  const id = row.required("id", idRule);
  const record = {
    line,
    petId: row.required("petId", idRule) ?? 0n,
    quantity: row.required("quantity", quantity) ?? 0,
    shipDate: fields.shipDate === null ? null : (row.optional("shipDate", instant) ?? null),
    status: row.required("status", orderStatus) ?? "placed",
    complete: row.optional("complete", flag) ?? false,
  };
  return id === undefined ? [] : { id, ...record, isBad: row.isBad() };
}

/** The reason of the ledger rows of an import. Undefined for a name that breaks `fileNameRule`. */
export function importReasonOf(fileName: string): string | undefined {
  const reason = `import of ${fileName}`;
  return fileName !== "" && isReason(reason) ? reason : undefined;
}

export const fileNameCharactersMax = reasonCharactersMax - "import of ".length;

export const fileNameRule = `must have 1 to ${fileNameCharactersMax} characters and no control characters`;

/** Problems that only a store can find, after all rows are staged. */
export function repeatedId(
  line: unknown,
  column: "petId" | "id",
  id: unknown,
  firstLine: unknown,
): Problem {
  const rule = `must be unique, but line ${firstLine} has it too`;
  return { line: Number(line), column, value: String(id), rule };
}

export function namelessPet(line: unknown, petId: unknown): Problem {
  return { line: Number(line), column: "name", rule: `is required for a new pet (petId ${petId})` };
}

interface Rule<T> {
  /** The end of the error message. */
  readonly text: string;
  /** What to do about some values, after the message. */
  readonly advice?: (value: unknown) => string;
  /** Returns undefined for a value that breaks the rule. */
  readonly read: (value: unknown) => T | undefined;
}

function openRow(line: number, fields: Fields, columns: readonly string[], problems: Problems) {
  let isBad = false;
  const fail = (column: string, rule: string): undefined => {
    const value = fields[column] === undefined ? undefined : shownValue(fields[column]);
    problems.add({ line, column: shownValue(column), value, rule });
    isBad = true;
    return undefined;
  };
  for (const field of Object.keys(fields)) {
    if (!columns.includes(field)) fail(field, `is not one of ${columns.join(", ")}`);
  }
  const optional = <T>(field: string, rule: Rule<T>): T | undefined => {
    const value = fields[field];
    if (value === undefined) return undefined;
    return rule.read(value) ?? fail(field, rule.text + (rule.advice?.(value) ?? ""));
  };
  const required = <T>(field: string, rule: Rule<T>): T | undefined =>
    fields[field] === undefined ? fail(field, "is required") : optional(field, rule);
  return { optional, required, isBad: () => isBad };
}

/**
 * An id has one form, as in a path. Spreadsheet programs show 9007199254740993 as
 * 9.00719925474099E+15: that is another id, whose last digits are lost.
 */
const idRule: Rule<bigint> = {
  text: "must be a 64-bit integer, written with digits only and without leading zeros",
  advice: (value) => (isRespelt(shownValue(value)) ? respeltAdvice : ""),
  read: (value) => (value instanceof JsonNumber ? parseInt64(value.source) : undefined),
};

const respeltAdvice =
  "; a spreadsheet program may have changed and rounded it: take the ids from the original file, " +
  "and choose the type Text for this column when you open it";

/** With a decimal point, a decimal comma or an exponent. */
function isRespelt(number: string): boolean {
  return /^-?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(number) && /[.,eE]/.test(number);
}

const quantity: Rule<number> = {
  text: `must be an integer from 0 to ${quantityMax}`,
  read: readQuantity,
};

export const textRule: Rule<string> = {
  text: `must be a text of 1 to ${textCharactersMax} characters`,
  read: (value) => (isText(value) && value.length > 0 ? value : undefined),
};

export const listRule: Rule<readonly string[]> = {
  text: `must be a list of at most ${listItemsMax} texts of 1 to ${textCharactersMax} characters`,
  read: (value) =>
    Array.isArray(value) &&
    value.length <= listItemsMax &&
    value.every((item) => isText(item) && item.length > 0)
      ? (value as string[])
      : undefined,
};

const petStatus: Rule<(typeof petStatuses)[number]> = {
  text: `must be one of ${petStatuses.join(", ")}`,
  read: (value) => (isPetStatus(value) ? value : undefined),
};

const orderStatus: Rule<OrderStatus> = {
  text: `must be one of ${orderStatuses.join(", ")}`,
  read: (value) => orderStatuses.find((status) => status === value),
};

const flag: Rule<boolean> = {
  text: "must be true or false",
  read: (value) => (typeof value === "boolean" ? value : undefined),
};

const instant: Rule<number> = {
  text: "must be a date such as 2026-05-01 or 2026-05-01T12:00:00Z",
  read: (value) => (typeof value === "string" ? parseInstant(value) : undefined),
};

/** Both engines store these strings unchanged. NUL and unpaired surrogates are not accepted. */
function isText(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= textCharactersMax &&
    value.isWellFormed() &&
    !value.includes("\0")
  );
}
