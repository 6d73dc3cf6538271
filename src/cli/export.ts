import { petColumns } from "../domain/imports.ts";
import type { Pet } from "../domain/pets.ts";
import type { CatalogueReader } from "../domain/ports.ts";
import { csvCell } from "./csv.ts";
import { type Format, formatOf, writeText } from "./files.ts";
import type { StoreInput } from "./with-store.ts";

const pageRows = 5_000;

interface ExportFlags {
  readonly format: string | undefined;
}

/** Writes all pets as of one moment, in the columns that an import reads. */
export async function exportPets({
  flags,
  operands: [file],
  store,
}: StoreInput<ExportFlags, readonly [file: string]>) {
  const format = formatOf(file, flags.format);
  await store.transfer.snapshot((reader) => writeText(file, pieces(reader, format)));
  return 0;
}

async function* pieces(reader: CatalogueReader, format: Format): AsyncGenerator<string> {
  const { opening, separator, closing, write } = layouts[format];
  yield opening;
  let after: bigint | null = null;
  let first = true;
  for (;;) {
    const pets: readonly Pet[] = await reader.petsAfter(after, pageRows);
    if (pets.length === 0) break;
    yield (first ? "" : separator) + pets.map(write).join(separator);
    first = false;
    after = pets.at(-1)!.petId;
  }
  yield first ? closing.trimStart() : closing;
}

interface Layout {
  readonly opening: string;
  readonly separator: string;
  readonly closing: string;
  readonly write: (pet: Pet) => string;
}

const layouts: Record<Format, Layout> = {
  json: { opening: "[", separator: ",\n ", closing: "]\n", write: jsonOf },
  ndjson: { opening: "", separator: "\n", closing: "\n", write: jsonOf },
  csv: { opening: `${petColumns.join()}\n`, separator: "\n", closing: "\n", write: csvOf },
};

function jsonOf({ petId, ...rest }: Pet): string {
  return `{"petId":${petId},${JSON.stringify(rest).slice(1)}`;
}

function csvOf(pet: Pet): string {
  return [
    String(pet.petId),
    pet.name,
    pet.category ?? "",
    listCell(pet.tags),
    listCell(pet.photoUrls),
    pet.status,
    String(pet.quantity),
  ]
    .map(csvCell)
    .join();
}

/** Joins items with bars. Writes a JSON array if a bar or a bracket in an item would be misread. */
function listCell(items: readonly string[]): string {
  const isPlain = items.every((item) => !item.includes("|")) && !items[0]?.startsWith("[");
  return items.length === 0 ? "" : isPlain ? items.join("|") : JSON.stringify(items);
}
