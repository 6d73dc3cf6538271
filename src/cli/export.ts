import { type Content, exportText, orderContent, petContent } from "../files/exports.ts";
import { formats } from "../files/formats.ts";
import type { UnlistedCommand } from "./command.ts";
import { formatFlag, formatOf, writeText } from "./files.ts";
import { createProgress } from "./progress.ts";
import { storeCommand } from "./store-command.ts";

const pageRows = 5_000;

export const petsExportCommand = exportCommand(petContent, {
  name: "pets export",
  summary: "Writes all pets and their stock to a file.",
  examples: ["petstore pets export pets.csv", "petstore pets export - --format ndjson"],
});

export const ordersExportCommand = exportCommand(orderContent, {
  name: "orders export",
  summary: "Writes all orders to a file, the newest first.",
  examples: ["petstore orders export orders.csv"],
});

/** Writes all rows as of one moment. */
function exportCommand<Row>(
  content: Content<Row>,
  texts: Pick<UnlistedCommand, "name" | "summary" | "examples">,
): UnlistedCommand {
  return storeCommand({
    ...texts,
    operands: [{ name: "FILE", description: "File to write. - writes to standard output." }],
    flags: { format: formatFlag(formats) },
    async run({ flags, operands: [file], store }) {
      const format = formatOf(file, flags.format, formats);
      // On a terminal, the line would be between the rows.
      const isShown = file === "-" && process.stdout.isTTY;
      using progress = isShown ? undefined : createProgress(`Exporting to ${file}`);
      const advance = (rows: number) => progress?.advance(rows);
      await store.transfer.snapshot((reader) =>
        writeText(file, exportText(reader, content, format, pageRows, advance)),
      );
    },
  });
}
