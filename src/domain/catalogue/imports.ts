import { isPetStatus, petStatuses } from "../ledger/inventory.ts";
import { parseInt64 } from "../values/int64.ts";
import { JsonNumber } from "../values/json.ts";
import type { CellKind } from "../values/spreadsheet-text.ts";
import { isReason, reasonCharactersMax } from "../values/texts.ts";
import { parseInstant } from "../values/times.ts";
import { type Problem, type Problems, shownValue } from "./import-problems.ts";
import { type OrderRecord, type OrderStatus, orderStatuses } from "./orders.ts";
import { type FieldKind, fieldRules, integerRule, petFields, type Rule } from "./pet-fields.ts";
import type { PetRecord } from "./pets.ts";

/** The values of one row of an import file, not yet checked. Undefined means not given. */
export type Fields = Readonly<Record<string, unknown>>;

/** What differs between the rows of pets and of orders. */
export interface RowKind<T> {
  /** The columns of a file. The first one is the id. */
  readonly columns: Readonly<Record<string, CellKind>>;
  /**
   * Checks one row and adds its problems. Returns undefined for a row without an id. A row with another
   * problem is returned as bad, so that a second row with its id is found too.
   */
  toRecord(line: number, fields: Fields, problems: Problems): T | undefined;
}

const cellKinds: Record<FieldKind, CellKind> = {
  text: "text",
  optionalText: "text",
  uniqueText: "code",
  texts: "texts",
  optionalInteger: "integer",
};

const petRules = petFields.map(({ name, kind }) => ({ name, rule: fieldRules[kind] }));

export const petRows: RowKind<PetRecord> = {
  columns: {
    petId: "id",
    ...Object.fromEntries(petFields.map(({ name, kind }) => [name, cellKinds[kind]])),
    status: "text",
    quantity: "integer",
  },
  toRecord(line, fields, problems) {
    const row = new ReadRow(line, fields, petRows.columns, problems);
    const petId = row.required("petId", idRule);
    const record: Record<string, unknown> = { line, petId };
    for (const { name, rule } of petRules) record[name] = row.optional<unknown>(name, rule);
    record.status = row.optional("status", petStatus);
    record.quantity = row.optional("quantity", integerRule);
    record.isBad = row.isBad;
    return petId === undefined ? undefined : (record as unknown as PetRecord);
  },
};

export const orderRows: RowKind<OrderRecord> = {
  columns: {
    id: "id",
    petId: "id",
    quantity: "integer",
    shipDate: "text",
    status: "text",
    complete: "flag",
  },
  toRecord(line, fields, problems) {
    const row = new ReadRow(line, fields, orderRows.columns, problems);
    const id = row.required("id", idRule);
    const record = {
      line,
      petId: row.required("petId", idRule) ?? 0n,
      quantity: row.required("quantity", integerRule) ?? 0,
      shipDate: fields.shipDate === null ? null : (row.optional("shipDate", instant) ?? null),
      status: row.required("status", orderStatus) ?? "placed",
      complete: row.optional("complete", flag) ?? false,
    };
    return id === undefined ? undefined : { id, ...record, isBad: row.isBad };
  },
};

/** The reason for the ledger rows of an import. Undefined for a name that breaks `fileNameRule`. */
export function importReasonOf(fileName: string): string | undefined {
  const reason = `import of ${fileName}`;
  return fileName !== "" && isReason(reason) ? reason : undefined;
}

export const fileNameCharactersMax = reasonCharactersMax - "import of ".length;

export const fileNameRule = `must have 1 to ${fileNameCharactersMax} characters and no control characters`;

/** Problems that only a store can find, after all rows are staged. */
export function notUnique(line: unknown, column: string, value: unknown, other: string): Problem {
  const rule = `must be unique, but ${other}`;
  return { line: Number(line), column, value: shownValue(String(value)), rule };
}

export function missingField(line: unknown, column: string, petId: unknown): Problem {
  return { line: Number(line), column, rule: `is required for a new pet (petId ${petId})` };
}

/** Reads the fields of a row, and adds a problem for each that breaks its rule. */
class ReadRow {
  isBad = false;
  readonly #line: number;
  readonly #fields: Fields;
  readonly #problems: Problems;

  constructor(
    line: number,
    fields: Fields,
    columns: RowKind<never>["columns"],
    problems: Problems,
  ) {
    this.#line = line;
    this.#fields = fields;
    this.#problems = problems;
    for (const field in fields) {
      if (!Object.hasOwn(columns, field)) {
        this.#fail(field, `is not one of ${Object.keys(columns).join(", ")}`);
      }
    }
  }

  optional<T>(field: string, rule: Rule<T>): T | undefined {
    const value = this.#fields[field];
    if (value === undefined) return undefined;
    const read = rule.read(value);
    return read === undefined ? this.#fail(field, rule.text + (rule.advice?.(value) ?? "")) : read;
  }

  required<T>(field: string, rule: Rule<T>): T | undefined {
    if (this.#fields[field] === undefined) return this.#fail(field, "is required");
    return this.optional(field, rule);
  }

  #fail(column: string, rule: string): undefined {
    const given = this.#fields[column];
    const value = given === undefined ? undefined : shownValue(given);
    this.#problems.add({ line: this.#line, column: shownValue(column), value, rule });
    this.isBad = true;
    return undefined;
  }
}

/**
 * Ids are written with digits only, as in a path. Spreadsheet programs save 9007199254740993 as
 * 9.00719925474099E+15. That would be another id, because the last digits are lost.
 */
const idRule: Rule<bigint> = {
  text: "must be a 64-bit integer, written with digits only and without leading zeros",
  advice: (value) => (isRespelt(shownValue(value)) ? respeltAdvice : ""),
  read: (value) => (value instanceof JsonNumber ? parseInt64(value.source) : undefined),
};

const respeltAdvice =
  "; a spreadsheet program may have changed and rounded it: take the values from the original file, " +
  "and choose the type Text for this column when you open it";

/** Whether a number has a decimal point, a decimal comma or an exponent. */
function isRespelt(number: string): boolean {
  return /^-?[0-9]+(?:[.,][0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(number) && /[.,eE]/.test(number);
}

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
