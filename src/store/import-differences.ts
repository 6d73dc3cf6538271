import type {
  ImportDifference,
  Imported,
  TakeDifferences,
} from "../domain/catalogue/import-preview.ts";

/** What an import would change, read from the staged rows. Both engines run the same statements. */

/** Whether a staged row changes a pet. Fields that it does not give are null and compare as null. */
export const petDiffers = `(s.name <> p.name OR s.tags <> p.tags OR s.photo_urls <> p.photo_urls
  OR (s.category_given AND s.category IS DISTINCT FROM p.category))`;
export const stockDiffers = "(s.quantity <> i.quantity OR s.status <> i.status)";
export const orderDiffers = `(s.pet_id <> o.pet_id OR s.quantity <> o.quantity
  OR s.ship_date IS DISTINCT FROM o.ship_date OR s.status <> o.status OR s.complete <> o.complete)`;

/** Numbered, because SQLite returns rows by the names of their columns. */
const numbered = (...columns: string[]) =>
  columns.map((column, at) => `${column} AS c${at}`).join(", ");

/** Pets that are new or differ: the id, whether it is new, and for each field the old and new value. */
export const differentPets = `
  SELECT ${numbered(
    "s.pet_id",
    "p.pet_id IS NULL",
    ...["p.name", "coalesce(s.name, p.name)"],
    ...["p.category", "CASE WHEN s.category_given THEN s.category ELSE p.category END"],
    ...["p.tags", "coalesce(s.tags, p.tags)"],
    ...["p.photo_urls", "coalesce(s.photo_urls, p.photo_urls)"],
    ...["i.status", "coalesce(s.status, i.status)"],
    ...["i.quantity", "coalesce(s.quantity, i.quantity)"],
  )}
  FROM staged_pets s LEFT JOIN pets p ON p.pet_id = s.pet_id
    LEFT JOIN inventory i ON i.pet_id = s.pet_id
  WHERE p.pet_id IS NULL OR ${petDiffers} OR ${stockDiffers}
  ORDER BY s.pet_id`;

export const differentOrders = `
  SELECT ${numbered(
    "s.id",
    "o.id IS NULL",
    ...["o.pet_id", "s.pet_id"],
    ...["o.quantity", "s.quantity"],
    ...["o.ship_date", "s.ship_date"],
    ...["o.status", "s.status"],
    ...["o.complete", "s.complete"],
  )}
  FROM staged_orders s LEFT JOIN orders o ON o.id = s.id
  WHERE o.id IS NULL OR ${orderDiffers}
  ORDER BY s.id`;

type Field = readonly [name: string, read: (stored: unknown) => unknown];

const asStored = (stored: unknown) => stored;
const listOf = (stored: unknown) => JSON.parse(stored as string) as unknown;
const numberOf = (stored: unknown) => Number(stored);

const petFields: readonly Field[] = [
  ["name", asStored],
  ["category", asStored],
  ["tags", listOf],
  ["photoUrls", listOf],
  ["status", asStored],
  ["quantity", numberOf],
];

const orderFields: readonly Field[] = [
  ["petId", (stored) => BigInt(stored as string)],
  ["quantity", numberOf],
  ["shipDate", (stored) => new Date(Number(stored)).toISOString()],
  ["status", asStored],
  ["complete", (stored) => Number(stored) === 1],
];

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
  return fields.flatMap(([field, read], at) => {
    const [from, to] = [values[2 * at] ?? null, values[2 * at + 1] ?? null];
    if (String(from) === String(to)) return [];
    const shown = (stored: unknown) => (stored === null ? null : read(stored));
    return [{ id: BigInt(id as string), field, from: shown(from), to: shown(to) }];
  });
}
