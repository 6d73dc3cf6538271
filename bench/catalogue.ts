// The generated catalogue that every contestant starts with. It depends only on the size, so that
// responses can be compared with it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Entry {
  petId: number;
  quantity: number;
  status: "available" | "pending" | "sold";
}

const statuses = ["available", "pending", "sold"] as const;

/** Quantities always have four digits, so that updates do not change the length of the list. */
export const quantityMin = 1000;
export const quantityMax = 9999;

function entryAt(index: number, shift = 0): Entry {
  return {
    petId: index + 1,
    quantity: quantityMin + ((index * 7 + shift) % (quantityMax - quantityMin + 1)),
    status: statuses[index % statuses.length]!,
  };
}

/**
 * Writes the catalogue in a format of the import command and returns the path of the file. A
 * different `shift` makes every quantity different.
 */
export function writeCatalogue(directory: string, entries: number, shift = 0): string {
  const file = join(directory, `catalogue-${entries}-${shift}.ndjson`);
  const lines: string[] = [];
  for (let index = 0; index < entries; index++) {
    lines.push(JSON.stringify({ ...entryAt(index, shift), name: `Pet ${index + 1}` }));
  }
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

/** Throws unless the list has the pets of the catalogue in order. Ignores the quantities. */
export function checkPets(body: string, entries: number): void {
  const list = JSON.parse(body) as Entry[];
  if (list.length !== entries || list.some((entry, index) => entry.petId !== index + 1)) {
    throw new Error(`The list of ${list.length} entries is not the pets 1 to ${entries} in order.`);
  }
}

/** Throws unless the list is exactly the catalogue of this size, in order. */
export function checkCatalogue(body: string, entries: number): void {
  const list = JSON.parse(body) as Entry[];
  if (list.length !== entries) {
    throw new Error(`The list has ${list.length} entries, expected ${entries}.`);
  }
  for (let index = 0; index < entries; index++) {
    const actual = list[index]!;
    const expected = entryAt(index);
    if (
      actual.petId !== expected.petId ||
      actual.quantity !== expected.quantity ||
      actual.status !== expected.status ||
      Object.keys(actual).length !== 3
    ) {
      throw new Error(
        `Entry ${index} is ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}.`,
      );
    }
  }
}
