import { formats } from "../files/formats.ts";
import { type Command, command, creatingSettings, json } from "./command.ts";
import { exportOrders, exportPets } from "./export.ts";
import { importOrders, importPets } from "./imports/import.ts";
import { withExistingStore } from "./with-store.ts";

const format = {
  placeholder: formats.join("|"),
  description: "Format of the file. Default: the extension of its name, or ndjson for -.",
} as const;
const inputFile = [{ name: "FILE", description: "File to read. - reads standard input." }] as const;
const outputFile = [
  { name: "FILE", description: "File to write. - writes to standard output." },
] as const;

/** The flags of both imports. The service gives the last three when it imports for an operator. */
const importFlags = {
  format,
  "dry-run": { description: "Show what would change, and change nothing." },
  differences: {
    placeholder: "N",
    description:
      "Maximum number of differences that --dry-run lists. Default: 50, or all with --json.",
  },
  json,
  name: {
    placeholder: "NAME",
    description: "Name of the file in the ledger and in the audit log. Default: FILE.",
  },
  as: {
    placeholder: "KEY",
    description: "Id of the operator key to record the import for. Default: none.",
  },
  "request-id": {
    placeholder: "ID",
    field: "requestId",
    description: "Id of the request to record the import for. Only with --as.",
  },
} as const;

/** Commands that move pets and orders in and out of the store. */
export const catalogueCommands: readonly Command[] = [
  command({
    name: "pets import",
    summary: "Adds and updates pets and their stock.",
    topic: "pets and orders",
    examples: ["petstore pets import pets.csv --dry-run", "petstore pets import - --format ndjson"],
    operands: inputFile,
    flags: importFlags,
    changes: true,
    settings: creatingSettings,
    run: importPets,
  }),
  command({
    name: "pets export",
    summary: "Writes all pets and their stock to a file.",
    topic: "pets and orders",
    examples: ["petstore pets export pets.csv", "petstore pets export - --format ndjson"],
    operands: outputFile,
    flags: { format },
    run: withExistingStore(exportPets),
  }),
  command({
    name: "orders import",
    summary: "Adds and updates orders.",
    topic: "pets and orders",
    examples: ["petstore orders import orders.csv"],
    operands: inputFile,
    flags: importFlags,
    changes: true,
    settings: creatingSettings,
    run: importOrders,
  }),
  command({
    name: "orders export",
    summary: "Writes all orders to a file, the newest first.",
    topic: "pets and orders",
    examples: ["petstore orders export orders.csv"],
    operands: outputFile,
    flags: { format },
    run: withExistingStore(exportOrders),
  }),
];
