import { auditEntry } from "../domain/audit/audit.ts";
import type {
  ImportDifference,
  Imported,
  ImportOrigin,
  TakeDifferences,
} from "../domain/catalogue/import-preview.ts";
import {
  type Problem,
  type Problems,
  problemsListedMax,
  rejectProblems,
} from "../domain/catalogue/import-problems.ts";
import { missingField, notUnique } from "../domain/catalogue/imports.ts";
import type { OrderRecord } from "../domain/catalogue/orders.ts";
import type { PetRecord } from "../domain/catalogue/pets.ts";
import type { Cause } from "../domain/ledger/ledger.ts";
import { note } from "./audit.ts";
import { remember } from "./made.ts";
import * as petRows from "./pet-rows.ts";
import { orderColumns, type Row, type Value } from "./rows.ts";
import { type Dialect, run, type Script } from "./statements.ts";

/**
 * The rows of an import in a temporary table, from which they are checked, compared and applied. Both
 * engines run the same statements.
 */
export interface Staging<T> {
  readonly table: string;
  /** The column of the id, and its name in a file. */
  readonly id: string;
  readonly idField: "petId" | "id";
  /** The columns after the id, with their types. */
  readonly columns: string;
  /** The values of all columns. */
  readonly values: (record: T) => Value[];
  /** Checks that compare the rows with each other, apart from their ids. */
  readonly ownChecks: readonly StagedCheck[];
  /** Checks that compare the rows with the store. */
  readonly checks: readonly StagedCheck[];
  readonly fields: readonly Field[];
  /** Selects what is new or differs: the id, whether it is new, and each field's old and new value. */
  readonly different: string;
}

/** A query that returns the first bad rows. Its last column is the number of all bad rows. */
export interface StagedCheck {
  readonly text: string;
  readonly toProblem: (row: Row) => Problem;
}

/** Finds values that only one row may have. */
export function repeatedValues(table: string, column: string, field: string): StagedCheck {
  return {
    text: `SELECT line, ${column}, first_line, count(*) OVER () FROM (
        SELECT line, ${column}, row_number() OVER same AS nth, first_value(line) OVER same AS first_line
        FROM ${table} WHERE ${column} IS NOT NULL
        WINDOW same AS (PARTITION BY ${column} ORDER BY line)) AS numbered
      WHERE nth > 1 ORDER BY line LIMIT ${problemsListedMax}`,
    toProblem: ([line, value, firstLine]) =>
      notUnique(line, field, value, `line ${firstLine} has it too`),
  };
}

/** Finds values that another pet of the store has, unless the import gives that pet another value. */
const takenValues = petRows.uniqueFields.map(
  ({ name, column }): StagedCheck => ({
    text: `SELECT s.line, s.${column}, p.pet_id, count(*) OVER ()
      FROM staged_pets s JOIN pets p ON p.${column} = s.${column} AND p.pet_id <> s.pet_id
        LEFT JOIN staged_pets o ON o.pet_id = p.pet_id
      WHERE s.${column} IS NOT NULL AND o.${column}_given IS NOT TRUE
      ORDER BY s.line LIMIT ${problemsListedMax}`,
    toProblem: ([line, value, petId]) => notUnique(line, name, value, `pet ${petId} has it`),
  }),
);

/** Adds the problems that checks have found. */
export function* findProblems(checks: readonly StagedCheck[], problems: Problems): Script<void> {
  for (const { text, toProblem } of checks) {
    const rows = yield* run(text);
    for (const row of rows) problems.add(toProblem(row));
    problems.addUnlisted(Number(rows[0]?.at(-1) ?? 0) - rows.length);
  }
}

/** Checks staged rows against the store, and adds their problems. Throws if the import has problems. */
export function* checkStaged({ checks }: Staging<never>, problems: Problems): Script<void> {
  yield* findProblems(checks, problems);
  rejectProblems(problems);
}

type Field = readonly [
  name: string,
  before: string,
  after: string,
  read: (stored: unknown) => unknown,
];

const asStored = (stored: unknown) => stored;
const numberOf = (stored: unknown) => Number(stored);

/** Columns need different names, because SQLite returns rows by the names of their columns. */
const numbered = (fields: readonly Field[]) =>
  fields.map(([, before, after], at) => `${before} AS before${at}, ${after} AS after${at}`).join();

export const stockDiffers = "(s.quantity <> i.quantity OR s.status <> i.status)";

const petFields: readonly Field[] = [
  ...petRows.comparedFields,
  ["status", "i.status", "coalesce(s.status, i.status)", asStored],
  ["quantity", "i.quantity", "coalesce(s.quantity, i.quantity)", numberOf],
];

const missingFields = petRows.requiredFields.map(
  ({ name, column }): StagedCheck => ({
    text: `SELECT line, pet_id, count(*) OVER () FROM staged_pets s
      WHERE ${column} IS NULL AND NOT is_bad
        AND NOT EXISTS (SELECT 1 FROM pets p WHERE p.pet_id = s.pet_id)
      ORDER BY line LIMIT ${problemsListedMax}`,
    toProblem: ([line, petId]) => missingField(line, name, petId),
  }),
);

export const petStaging: Staging<PetRecord> = {
  table: "staged_pets",
  id: "pet_id",
  idField: "petId",
  columns: petRows.stagedColumns,
  values: petRows.stagedValues,
  ownChecks: petRows.uniqueFields.map(({ name, column }) =>
    repeatedValues("staged_pets", column, name),
  ),
  checks: [...missingFields, ...takenValues],
  fields: petFields,
  different: `
    SELECT s.pet_id, p.pet_id IS NULL, ${numbered(petFields)}
    FROM staged_pets s LEFT JOIN pets p ON p.pet_id = s.pet_id
      LEFT JOIN inventory i ON i.pet_id = s.pet_id
    WHERE p.pet_id IS NULL OR ${petRows.petDiffers} OR ${stockDiffers}
    ORDER BY s.pet_id`,
};

const orderFields: readonly Field[] = [
  ["petId", "o.pet_id", "s.pet_id", (stored) => BigInt(stored as string)],
  ["quantity", "o.quantity", "s.quantity", numberOf],
  ["shipDate", "o.ship_date", "s.ship_date", (at) => new Date(Number(at)).toISOString()],
  ["status", "o.status", "s.status", asStored],
  ["complete", "o.complete", "s.complete", (stored) => Number(stored) === 1],
];

/** Staged orders that are new or differ from those of the store. */
const differentOrders = `FROM staged_orders s LEFT JOIN orders o ON o.id = s.id
  WHERE (o.id IS NULL OR
    ${orderFields.map(([, before, after]) => `${before} IS DISTINCT FROM ${after}`).join(" OR ")})`;

export const orderStaging: Staging<OrderRecord> = {
  table: "staged_orders",
  id: "id",
  idField: "id",
  columns: "line int8, pet_id int8, quantity int8, ship_date int8, status text, complete int2",
  values: ({ id, line, petId, quantity, shipDate, status, complete }) => [
    ...[id, line, petId, quantity, shipDate, status],
    complete ? 1 : 0,
  ],
  ownChecks: [],
  checks: [],
  fields: orderFields,
  different: `SELECT s.id, o.id IS NULL, ${numbered(orderFields)} ${differentOrders} ORDER BY s.id`,
};

const orderColumnList = orderColumns.split(", ");

const upsertOrders = `INSERT INTO orders (${orderColumns})
  SELECT ${orderColumnList.map((column) => `s.${column}`).join(", ")} ${differentOrders}
  ORDER BY s.id ON CONFLICT (id) DO UPDATE
  SET ${orderColumnList.map((column) => `${column} = excluded.${column}`).join(", ")}`;

/** Applies the staged orders, of which there are `staged`. */
export function* applyOrders(staged: number): Script<Imported> {
  const [counts] = yield* run(`SELECT count(*), count(o.id) ${differentOrders}`);
  const [different, changed] = counts!.map(Number) as [number, number];
  yield* run(upsertOrders);
  return { created: different - changed, changed, unchanged: staged - different };
}

/** The cause of the rows of an import. Leaves out pets that have changed since, if it is an undo. */
export function* causeOf({ undoAsOf }: ImportOrigin): Script<Cause> {
  if (undoAsOf === undefined) return "import";
  const changed = "SELECT pet_id FROM ledger WHERE seq > $1::int8";
  yield* run(`DELETE FROM staged_pets WHERE pet_id IN (${changed})`, [undoAsOf]);
  return "undo";
}

/** Records an import in the audit log. The ledger has all that is known about an undo. */
export function* noteImport(
  dialect: Dialect,
  action: "pets.imported" | "orders.imported",
  { actor, reason, undoAsOf }: ImportOrigin,
  imported: Imported,
  now: number,
): Script<void> {
  if (undoAsOf !== undefined) return yield* remember(actor.once, actor.requestId, now);
  yield* note(dialect, auditEntry({ actor, now }, action, null, { reason, ...imported }));
}

/** Passes on the differences, and counts new and changed rows. `staged` is the number of all rows. */
export async function takeDifferences(
  { fields }: Staging<never>,
  batches: AsyncIterable<readonly Row[]>,
  staged: number,
  take: TakeDifferences,
): Promise<Imported> {
  let created = 0;
  let changed = 0;
  for await (const batch of batches) {
    for (const [, isNew] of batch) {
      if (Number(isNew) === 1) created += 1;
      else changed += 1;
    }
    await take(batch.flatMap((row) => differencesOf(row, fields)));
  }
  return { created, changed, unchanged: staged - created - changed };
}

function differencesOf([id, , ...values]: Row, fields: readonly Field[]): ImportDifference[] {
  return fields.flatMap(([field, , , read], at) => {
    const [from, to] = [values[2 * at] ?? null, values[2 * at + 1] ?? null];
    if (String(from) === String(to)) return [];
    const shown = (stored: unknown) => (stored === null ? null : read(stored));
    return [{ id: BigInt(id as string), field, from: shown(from), to: shown(to) }];
  });
}
