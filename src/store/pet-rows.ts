import {
  type FieldKind,
  initialValues,
  type PetDetails,
  petFields,
} from "../domain/catalogue/pet-fields.ts";
import type { Pet, PetRecord } from "../domain/catalogue/pets.ts";
import type { PetStatus } from "../domain/ledger/inventory.ts";
import { type Row, toNumber, type Value } from "./rows.ts";

/** Pets in the store, derived from the table of their fields. Both engines run the same statements. */

type Stored = string | number | null;

interface StoredKind {
  readonly type: "text" | "int8";
  readonly read: (stored: unknown) => unknown;
  /** The value for a new pet that does not give one. */
  readonly initial: Stored;
}

const read = (stored: unknown) => stored;

const kinds: Readonly<Record<FieldKind, StoredKind>> = {
  // Required for a new pet. For a known pet, SQLite checks NOT NULL before it skips the row.
  text: { read, type: "text", initial: "" },
  optionalText: { read, type: "text", initial: null },
  uniqueText: { read, type: "text", initial: null },
  texts: { read: (stored) => JSON.parse(stored as string), type: "text", initial: "[]" },
  optionalInteger: { read: toNumber, type: "int8", initial: null },
};

const fields = petFields.map((field) => ({
  ...field,
  ...kinds[field.kind],
  isNullable: initialValues[field.kind] === null,
}));

export const detailColumns = fields.map(({ column }) => column);
/** The types of `detailColumns`. */
export const detailTypes = fields.map(({ type }) => type);

/** The columns of the table `pets`. */
export const petTableColumns = ["pet_id", ...detailColumns].join(", ");

/** The values for pets in backups that do not have these columns yet. */
export const initialDetails: ReadonlyMap<string, Stored> = new Map(
  fields
    .filter(({ kind }) => initialValues[kind] !== undefined)
    .map(({ column, initial }) => [column, initial]),
);

/** For a query that joins `pets` and `inventory`. */
export const petColumns = `${petTableColumns}, status, quantity`;

export function toPet(row: Row): Pet {
  const details: Record<string, unknown> = {};
  for (let at = 0; at < fields.length; at++) {
    details[fields[at]!.name] = fields[at]!.read(row[at + 1]);
  }
  const [status, quantity] = row.slice(-2);
  return {
    petId: row[0] as bigint,
    ...(details as PetDetails),
    status: status as PetStatus,
    quantity: Number(quantity),
  };
}

/** The values of `detailColumns`. */
export function detailValues(details: PetDetails): Stored[] {
  return fields.map(({ name }) => toStored(details[name]));
}

function toStored(value: PetDetails[keyof PetDetails] | undefined): Stored {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : (value ?? null);
}

/**
 * The columns of `staged_pets` after the id. The table has the rows of an import. A field that is not given
 * is null. If null is also a valid value, another column tells the two apart.
 */
export const stagedColumns = [
  "line int8",
  ...fields.flatMap(({ column, type, isNullable }) => [
    `${column} ${type}`,
    ...(isNullable ? [`${column}_given bool`] : []),
  ]),
  ...["status text", "quantity int8", "is_bad bool"],
].join(", ");

/** The values of a row of `staged_pets`. */
export function stagedValues(record: PetRecord): Value[] {
  const values: Value[] = [record.petId, record.line];
  for (const { name, isNullable } of fields) {
    const value = record[name];
    values.push(toStored(value));
    if (isNullable) values.push(value === undefined ? 0 : 1);
  }
  values.push(record.status ?? null, record.quantity ?? null, record.isBad ? 1 : 0);
  return values;
}

/** Whether a staged row changes a pet, in SQL. Fields that it does not give are null and never differ. */
export const petDiffers = `(${fields
  .map(({ column, isNullable }) =>
    isNullable
      ? `(s.${column}_given AND s.${column} IS DISTINCT FROM p.${column})`
      : `s.${column} <> p.${column}`,
  )
  .join(" OR ")})`;

/** The value of each field after an import, in SQL. */
const imported = fields.map(({ column, isNullable }) =>
  isNullable
    ? `CASE WHEN s.${column}_given THEN s.${column} ELSE p.${column} END`
    : `coalesce(s.${column}, p.${column})`,
);

/** Sets the fields of a pet that a staged row gives. */
export const assignImported = detailColumns
  .map((column, at) => `${column} = ${imported[at]}`)
  .join(", ");

/** Adds the staged rows as pets. The engine skips those that exist. */
export const insertStaged = `INSERT INTO pets (${petTableColumns})
  SELECT pet_id, ${fields.map(({ column, initial }) => `coalesce(${column}, ${initial === null ? "NULL" : `'${initial}'`})`).join(", ")}
  FROM staged_pets s`;

/** The fields as an import compares them: name, old and new value, and how to read a value. */
export const comparedFields = fields.map(
  ({ name, column, read }, at) => [name, `p.${column}`, imported[at]!, read] as const,
);

/** Fields whose values only one pet may have. */
export const uniqueFields = fields.flatMap((field) => (field.kind === "uniqueText" ? [field] : []));

/** Clears the unique values that an import replaces, so that two pets can swap theirs. */
export const freeReplaced = uniqueFields
  .map(
    ({ column }) => `UPDATE pets AS p SET ${column} = NULL FROM staged_pets s
      WHERE s.pet_id = p.pet_id AND s.${column}_given AND p.${column} IS NOT NULL
        AND s.${column} IS DISTINCT FROM p.${column}`,
  )
  .join(";\n");

/** Fields that are required for a new pet. */
export const requiredFields = fields.filter(({ kind }) => initialValues[kind] === undefined);
