import type {
  ImportDifference,
  Imported,
  TakeDifferences,
} from "../domain/catalogue/import-preview.ts";
import { comparedFields, petDiffers } from "./pet-rows.ts";

/** What an import would change, read from the staged rows. Both engines run the same statements. */

export const stockDiffers = "(s.quantity <> i.quantity OR s.status <> i.status)";
export const orderDiffers = `(s.pet_id <> o.pet_id OR s.quantity <> o.quantity
  OR s.ship_date IS DISTINCT FROM o.ship_date OR s.status <> o.status OR s.complete <> o.complete)`;

type Field = readonly [
  name: string,
  before: string,
  after: string,
  read: (stored: unknown) => unknown,
];

const asStored = (stored: unknown) => stored;
const numberOf = (stored: unknown) => Number(stored);

const petFields: readonly Field[] = [
  ...comparedFields,
  ["status", "i.status", "coalesce(s.status, i.status)", asStored],
  ["quantity", "i.quantity", "coalesce(s.quantity, i.quantity)", numberOf],
];

const orderFields: readonly Field[] = [
  ["petId", "o.pet_id", "s.pet_id", (stored) => BigInt(stored as string)],
  ["quantity", "o.quantity", "s.quantity", numberOf],
  ["shipDate", "o.ship_date", "s.ship_date", (at) => new Date(Number(at)).toISOString()],
  ["status", "o.status", "s.status", asStored],
  ["complete", "o.complete", "s.complete", (stored) => Number(stored) === 1],
];

/** Numbered, because SQLite returns rows by the names of their columns. */
const numbered = (fields: readonly Field[]) =>
  fields.map(([, before, after], at) => `${before} AS before${at}, ${after} AS after${at}`).join();

/** Pets that are new or differ: the id, whether it is new, and for each field the old and new value. */
export const differentPets = `
  SELECT s.pet_id, p.pet_id IS NULL, ${numbered(petFields)}
  FROM staged_pets s LEFT JOIN pets p ON p.pet_id = s.pet_id
    LEFT JOIN inventory i ON i.pet_id = s.pet_id
  WHERE p.pet_id IS NULL OR ${petDiffers} OR ${stockDiffers}
  ORDER BY s.pet_id`;

export const differentOrders = `
  SELECT s.id, o.id IS NULL, ${numbered(orderFields)}
  FROM staged_orders s LEFT JOIN orders o ON o.id = s.id
  WHERE o.id IS NULL OR ${orderDiffers}
  ORDER BY s.id`;

type Row = readonly unknown[];

/** Passes the differences of the rows on, and counts them. `staged` is the number of all rows. */
export async function takeDifferences(
  what: "pets" | "orders",
  batches: AsyncIterable<readonly Row[]>,
  staged: number,
  take: TakeDifferences,
): Promise<Imported> {
  const fields = what === "pets" ? petFields : orderFields;
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
