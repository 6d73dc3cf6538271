import { problemsListedMax } from "../../../domain/catalogue/import-problems.ts";
import { differencesListedMax } from "../../../domain/catalogue/import-runs.ts";
import { fileNameCharactersMax, orderRows, petRows } from "../../../domain/catalogue/imports.ts";
import { csvLine } from "../../../files/exports.ts";
import { formats } from "../../../files/formats.ts";
import { exampleOrder } from "../../api/contract/examples.ts";
import {
  boundedInteger,
  int64,
  reference,
  responseObject,
  type Schema,
} from "../../api/contract/schema.ts";
import { listOrders as apiOrders } from "../../api/orders.ts";
import { bodyTooLarge, compressedBody, incompleteBody } from "../../messages/error-messages.ts";
import { mediaTypeOf } from "../exports.ts";
import { formatRule } from "../formats.ts";
import {
  dryRunInvalid,
  formatHint,
  importNameInvalid,
  importRunning,
  rejectedMessage,
} from "../imports.ts";
import type { AdminContract } from "./operation.ts";
import { exampleFullPet } from "./stock-schemas.ts";

const count = (description: string): Schema => ({
  ...boundedInteger(0, Number.MAX_SAFE_INTEGER),
  description,
});

const exampleProblem = {
  line: 3,
  column: "quantity",
  value: "few",
  rule: "must be an integer from 0 to 9007199254740991",
};
const exampleDifference = { id: 7, field: "quantity", from: 3, to: 5 };
const exampleImport = {
  dryRun: true,
  ...{ created: 0, changed: 1, unchanged: 2 },
  problems: { total: 0, rows: [], hint: null },
  differences: { total: 1, rows: [exampleDifference] },
};
const exampleRejected = {
  dryRun: true,
  ...{ created: 0, changed: 0, unchanged: 0 },
  problems: { total: 1, rows: [exampleProblem], hint: null },
  differences: { total: 0, rows: [] },
};
const textOrNull = ["string", "null"];

export const fileSchemas: Readonly<Record<string, Schema>> = {
  ImportProblem: responseObject(
    "A rule that a row of the file breaks.",
    {
      line: {
        ...boundedInteger(1, Number.MAX_SAFE_INTEGER),
        description: "The line on which the row starts.",
      },
      column: {
        type: textOrNull,
        description: "Null if the problem is the whole row, or the file.",
      },
      value: { type: textOrNull, description: "The value, shortened. Null if there is none." },
      rule: { type: "string", description: "The rest of a sentence after column and value." },
    },
    exampleProblem,
  ),
  ImportProblems: responseObject(
    "What is wrong with the file.",
    {
      total: count("How many problems there are."),
      rows: {
        type: "array",
        items: reference("schemas", "ImportProblem"),
        maxItems: problemsListedMax,
        description: `The first ${problemsListedMax} problems, in the order of the file.`,
      },
      hint: {
        type: textOrNull,
        description: "What to do if the file seems to have another format.",
      },
    },
    { ...exampleRejected.problems, hint: formatHint("ndjson") },
  ),
  ImportDifference: responseObject(
    "What the import would change in one field.",
    {
      id: int64("The ID of the pet or of the order."),
      field: { type: "string", description: "The name of the field." },
      from: { description: "The value in the store. Null for a new pet or order." },
      to: { description: "The value in the file." },
    },
    exampleDifference,
  ),
  ImportDifferences: responseObject(
    "What the import would change.",
    {
      total: count("How many differences there are. 0 unless this was a dry run."),
      rows: {
        type: "array",
        items: reference("schemas", "ImportDifference"),
        maxItems: differencesListedMax,
        description: `The first ${differencesListedMax} differences, by ascending ID. There are fewer if their values are long.`,
      },
    },
    exampleImport.differences,
  ),
  Import: responseObject(
    "The result of an import, or of its dry run.",
    {
      dryRun: { type: "boolean", description: "True if nothing was changed." },
      created: count("How many pets or orders are new."),
      changed: count("How many exist and differ."),
      unchanged: count("How many exist and are the same."),
      problems: {
        ...reference("schemas", "ImportProblems"),
        description: "If there is a problem, no row is imported.",
      },
      differences: {
        ...reference("schemas", "ImportDifferences"),
        description: "Only a dry run lists differences.",
      },
    },
    exampleImport,
  ),
};

const formatParameter = {
  name: "format",
  in: "query",
  schema: { type: "string", enum: formats },
  example: "csv",
} as const;

function importContract(what: "pets" | "orders", columns: readonly string[]): AdminContract {
  const [id] = columns;
  return {
    tag: what === "pets" ? "Pets" : "Orders",
    summary: `Import ${what}`,
    description: `Adds and updates ${what} from a file. All rows are imported, or none. A row with a known \`${id}\` updates the fields that it gives. The columns are ${columns.map((column) => `\`${column}\``).join(", ")}.

With \`dryRun=true\`, nothing is changed: the response lists what is wrong with the file and what would change. Without it, a file with a problem gets 400.

Each instance makes one import at a time. If the connection ends before the whole file has arrived, nothing is imported.`,
    parameters: [
      {
        ...formatParameter,
        description: "The format of the file. By default, the extension of `name`.",
      },
      {
        name: "dryRun",
        in: "query",
        description: "Whether to change nothing, and to return what would change.",
        schema: { type: "boolean", default: false },
        example: true,
      },
      {
        name: "name",
        in: "query",
        description: `The name of the file, for the ledger and the audit log. By default, \`${what}\` with the extension of the format.`,
        schema: { type: "string", minLength: 1, maxLength: fileNameCharactersMax },
        example: `${what}.csv`,
      },
    ],
    body: {
      description:
        "The file, in UTF-8 and not compressed. Its media type is ignored. It can have 64 MiB unless the service is configured differently.",
      others: {
        "application/octet-stream": {
          schema: { type: "string", description: "The bytes of the file." },
          examples: {},
        },
      },
    },
    success: {
      200: {
        description: "What was imported, or what a dry run found.",
        schema: reference("schemas", "Import"),
        examples: {
          dry_run: { summary: "A dry run", value: exampleImport },
          problem: { summary: "A dry run of a file with a problem", value: exampleRejected },
          imported: {
            summary: "An import",
            value: { ...exampleImport, dryRun: false, differences: { total: 0, rows: [] } },
          },
        },
      },
    },
    errors: ["invalid_request", "already_running", "payload_too_large", "unsupported_media_type"],
    messages: {
      invalid_request: {
        rejected: rejectedMessage([exampleProblem], 4),
        invalid_format: formatRule,
        invalid_dryRun: dryRunInvalid,
        invalid_name: importNameInvalid,
        incomplete: incompleteBody,
      },
      already_running: { already_running: importRunning },
      payload_too_large: { payload_too_large: bodyTooLarge(64 * 1_048_576) },
      unsupported_media_type: { compressed: compressedBody },
    },
    descriptions: {
      unavailable:
        "The store cannot be used at the moment, or the import failed for another reason than the file. `message` says why.",
    },
  };
}

const petColumns = Object.keys(petRows.columns);
const orderColumns = Object.keys(orderRows.columns);

export const importPets = importContract("pets", petColumns);
export const importOrders = importContract("orders", orderColumns);

const formulaNote = `

Every text is exact, so that the file can be imported again without a change. A name can start with \`=\`, \`+\`, \`-\` or \`@\`, which spreadsheet programs take for a formula: import the columns as text there.`;

function exportContract(
  what: "pets" | "orders",
  columns: readonly string[],
  row: Readonly<Record<string, unknown>>,
): AdminContract {
  const text = (description: string, value: string) => ({
    schema: { type: "string", description },
    examples: { file: { summary: "One row", value } },
  });
  return {
    tag: what === "pets" ? "Pets" : "Orders",
    summary: `Export ${what}`,
    description: `Returns all ${what} as a file, in the columns that an import reads. Rows are read while the file is sent, so a change made during that time may or may not be in it. \`petstore ${what} export\` writes all rows as of one moment.${what === "pets" ? formulaNote : ""}`,
    parameters: [{ ...formatParameter, required: true, description: "The format of the file." }],
    success: {
      200: {
        description: "The file.",
        headers: ["Content-Disposition"],
        schema: { type: "array", items: { type: "object" } },
        examples: { file: { summary: "One row", value: [row] } },
        others: {
          [mediaTypeOf.csv]: text(
            'Comma-separated values (RFC 4180), with a header. An id of more than 15 digits is written as ="9007199254740993", so that spreadsheet programs keep all its digits.',
            `${columns.join()}\n${csvLine(columns, row)}\n`,
          ),
          [mediaTypeOf.ndjson]: text("One JSON object per line.", `${JSON.stringify(row)}\n`),
        },
      },
    },
    errors: ["invalid_request"],
    messages: { invalid_request: { invalid_format: formatRule } },
  };
}

const { version: _, ...exampleExportedPet } = exampleFullPet;
export const exportPets = exportContract("pets", petColumns, exampleExportedPet);
export const exportOrders = exportContract("orders", orderColumns, exampleOrder);

const { 200: page } = apiOrders.contract.success;

/** The same as in the API, apart from the header that all operations here have. */
export const listOrders: AdminContract = {
  ...apiOrders.contract,
  tag: "Orders",
  success: { 200: { ...page!, headers: ["NextPage"] } },
};
