import { type Content, exportText, orderContent, petContent } from "../files/exports.ts";
import { formatOf, writeText } from "./files.ts";
import { createProgress } from "./progress.ts";
import type { StoreInput } from "./with-store.ts";

const pageRows = 5_000;

interface ExportFlags {
  readonly format: string | undefined;
}

type ExportInput = StoreInput<ExportFlags, readonly [file: string]>;

/** Writes all pets as of one moment. */
export function exportPets(input: ExportInput): Promise<number> {
  return exportContent(input, petContent);
}

/** Writes all orders as of one moment, the newest first. */
export function exportOrders(input: ExportInput): Promise<number> {
  return exportContent(input, orderContent);
}

async function exportContent<Row>(
  { flags, operands: [file], store }: ExportInput,
  content: Content<Row>,
): Promise<number> {
  const format = formatOf(file, flags.format);
  // On a terminal, the line would be between the rows.
  const isShown = file === "-" && process.stdout.isTTY;
  const progress = isShown ? undefined : createProgress(`Exporting to ${file}`);
  const advance = (rows: number) => progress?.advance(rows);
  try {
    await store.transfer.snapshot((reader) =>
      writeText(file, exportText(reader, content, format, pageRows, advance)),
    );
  } finally {
    progress?.end();
  }
  return 0;
}
