// The made-up catalogue every contestant starts from: the same for the same size, so that answers
// can be checked against it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Entry {
  petId: number;
  quantity: number;
  status: "available" | "pending" | "sold";
}

const statuses = ["available", "pending", "sold"] as const;

/** Quantities have four digits and updates keep that, so that the list keeps its length. */
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
 * Writes the catalogue as the import command reads it and returns the file's path. With another
 * `shift` every quantity is another one.
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

/** Throws unless the list answered has the catalogue's pets in order, whatever their quantities. */
export function checkPets(body: string, entries: number): void {
  const list = JSON.parse(body) as Entry[];
  if (list.length !== entries || list.some((entry, index) => entry.petId !== index + 1)) {
    throw new Error(`The list of ${list.length} entries is not the pets 1 to ${entries} in order.`);
  }
}

/** Throws unless the list answered is exactly the catalogue of this size, in order. */
export function checkCatalogue(body: string, entries: number): void {
  const list = JSON.parse(body) as Entry[];
  if (list.length !== entries) {
    throw new Error(`The list has ${list.length} entries, the catalogue ${entries}.`);
  }
  for (let index = 0; index < entries; index++) {
    const got = list[index]!;
    const want = entryAt(index);
    if (
      got.petId !== want.petId ||
      got.quantity !== want.quantity ||
      got.status !== want.status ||
      Object.keys(got).length !== 3
    ) {
      throw new Error(`Entry ${index} is ${JSON.stringify(got)}, not ${JSON.stringify(want)}.`);
    }
  }
}
