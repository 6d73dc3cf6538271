import {
  type Problem,
  problemsListedMax,
  problemText,
} from "../../domain/catalogue/import-problems.ts";
import {
  differencesJson,
  differencesListedMax,
  type ImportOutcome,
  type ImportRun,
} from "../../domain/catalogue/import-runs.ts";
import {
  fileNameCharactersMax,
  fileNameRule,
  importReasonOf,
  orderRows,
  petRows,
  type RowKind,
} from "../../domain/catalogue/imports.ts";
import { invalidRequest } from "../../domain/running/errors.ts";
import { mapCharactersMax } from "../../domain/values/bounds.ts";
import { headerMapRule, ignored, parseHeaderMap } from "../../files/table.ts";
import { json } from "../api/contract/contract.ts";
import * as schema from "../api/contract/schema.ts";
import { dryRun, queryParameter, readParameter, tries } from "../api/parameters.ts";
import { bodyTooLarge, compressedBody, incompleteBody } from "../messages/error-messages.ts";
import { type Fields, textOf } from "../messages/fields.ts";
import type { ChangeCall } from "../pipeline/operation.ts";
import type { AdminDeclaration } from "./admin-declaration.ts";
import { delimiterParameter, importFormatParameter, readFormat } from "./exports.ts";

const exampleProblem = {
  line: 3,
  column: "quantity",
  value: "few",
  rule: "must be an integer from 0 to 9007199254740991",
};
const exampleDifference = { id: 7, field: "quantity", from: 3, to: 5 };
const exampleColumn = { header: "Artikel", field: "petId" };
const exampleImport = {
  dryRun: true,
  columns: [exampleColumn],
  ...{ created: 0, changed: 1, unchanged: 2 },
  problems: { total: 0, rows: [], hint: null },
  differences: { total: 1, rows: [exampleDifference] },
};
const exampleRejected = {
  dryRun: true,
  columns: [],
  ...{ created: 0, changed: 0, unchanged: 0 },
  problems: { total: 1, rows: [exampleProblem], hint: null },
  differences: { total: 0, rows: [] },
};
const formatNames: Readonly<Record<string, string>> = {
  csv: "CSV",
  json: "a JSON array",
  ndjson: "NDJSON, with one JSON object per line",
  xlsx: "a workbook of a spreadsheet program",
};

/** What to do about a file that is not in the format that was given. */
function formatHint(format: string): string {
  return `The file looks like ${formatNames[format]}. Import it with the format ${format}.`;
}

export const importSchemas: Readonly<Record<string, schema.Schema>> = {
  ImportProblem: schema.responseObject(
    "A problem with a row of the file.",
    {
      line: schema.integer(1, Number.MAX_SAFE_INTEGER, "The line on which the row starts."),
      column: schema.textOrNull(
        "The column. Null if the problem concerns the whole row or the file.",
      ),
      value: schema.textOrNull("The value, shortened. Null if there is none."),
      rule: schema.text(
        "The rule that is broken: the end of a sentence that starts with column and value.",
      ),
    },
    exampleProblem,
  ),
  ImportProblems: schema.responseObject(
    "What is wrong with the file.",
    {
      total: schema.number("How many problems there are."),
      rows: {
        ...schema.listOf(
          "ImportProblem",
          `The first ${problemsListedMax} problems, in the order of the file.`,
        ),
        maxItems: problemsListedMax,
      },
      hint: schema.textOrNull("What to do if the file seems to have another format."),
    },
    { ...exampleRejected.problems, hint: formatHint("ndjson") },
  ),
  ImportDifference: schema.responseObject(
    "What the import would change in one field.",
    {
      id: schema.int64("The ID of the pet or of the order."),
      field: schema.text("The name of the field."),
      from: { description: "The value in the store. Null for a new pet or order." },
      to: { description: "The value in the file." },
    },
    exampleDifference,
  ),
  ImportDifferences: schema.responseObject(
    "What the import would change.",
    {
      total: schema.number("How many differences there are. 0 unless this was a dry run."),
      rows: {
        ...schema.listOf(
          "ImportDifference",
          `The first ${differencesListedMax} differences, by ascending ID. There are fewer if their values are long.`,
        ),
        maxItems: differencesListedMax,
      },
    },
    exampleImport.differences,
  ),
  ImportColumn: schema.responseObject(
    "A column of the file.",
    {
      header: schema.text("Its header."),
      field: schema.textOrNull(
        "The field that it is imported as, or `ignore`. Null if it is unknown.",
      ),
    },
    exampleColumn,
  ),
  Import: schema.responseObject(
    "The result of an import, or of its dry run.",
    {
      dryRun: schema.flag("True if nothing was changed."),
      created: schema.number("How many pets or orders are new."),
      changed: schema.number("How many existing ones change."),
      unchanged: schema.number("How many existing ones stay the same."),
      problems: schema.named("ImportProblems", "If there is a problem, no row is imported."),
      differences: schema.named("ImportDifferences", "Only a dry run lists differences."),
      columns: schema.listOf("ImportColumn", "Only a dry run of CSV or a workbook lists columns."),
    },
    exampleImport,
  ),
};

const fileName = (what: ImportRun["what"]) =>
  queryParameter({
    name: "name",
    description: `The name of the file, for the ledger and the audit log. By default, \`${what}\` with the extension of the format.`,
    schema: { type: "string", minLength: 1, maxLength: fileNameCharactersMax },
    example: `${what}.csv`,
    rule: fileNameRule,
    parse: (text) => (importReasonOf(text) === undefined ? undefined : text),
  });

const headerMap = (fields: readonly string[]) =>
  queryParameter({
    name: "map",
    description: `The field of each column that is not named like a field, or \`${ignored}\` to leave it out: a line of \`HEADER=FIELD\` for each. A header that the file does not have is ignored.`,
    schema: { type: "string", maxLength: mapCharactersMax, pattern: "^.*=\\w+(\\n.*=\\w+)*$" },
    example: "Artikel=petId\nPreis=ignore",
    rule: `${headerMapRule(fields)}, in lines of together at most ${mapCharactersMax} characters`,
    parse: (text) =>
      text.length <= mapCharactersMax && parseHeaderMap(text, fields) ? text : undefined,
  });

function readRun(
  what: ImportRun["what"],
  columns: object,
  { actor, isDryRun }: ChangeCall,
  fields: Fields,
): ImportRun {
  const format = readFormat(fields, importFormatParameter, textOf(fields, "name"));
  const name = readParameter(fields, fileName(what)) ?? `${what}.${format}`;
  return {
    ...{ what, format, isDryRun, name, actor },
    delimiter: readParameter(fields, delimiterParameter),
    map: readParameter(fields, headerMap(Object.keys(columns))),
  };
}

/** The body of the response. Throws if nothing was imported, except after a dry run. */
function importOf({ isDryRun: dryRun }: ImportRun, outcome: ImportOutcome) {
  switch (outcome.kind) {
    case "rejected": {
      const { problems, total, columns } = outcome;
      if (!dryRun) throw invalidRequest(rejectedMessage(problems, total));
      const counts = { created: 0, changed: 0, unchanged: 0 };
      const found = { problems: problemsOf(problems, total), ...noDifferences };
      return { dryRun, ...counts, ...found, columns };
    }
    case "imported": {
      const { counts, differences } = outcome;
      const found = differences
        ? { differences: differencesJson(differences), columns: outcome.columns }
        : { ...noDifferences, columns: [] };
      return { dryRun, ...counts, problems: problemsOf([], 0), ...found };
    }
  }
}

const noDifferences = { differences: { total: 0, rows: [] } };

function problemsOf(problems: readonly Problem[], total: number) {
  const format = problems.find((problem) => problem.format !== undefined)?.format;
  const rows = problems.map(({ line, column, value, rule }) => ({
    ...{ line, column: column ?? null, value: value ?? null, rule },
  }));
  return { total, rows, hint: format === undefined ? null : formatHint(format) };
}

/** Some rules end with a question about the file, and some reasons are sentences. */
function sentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`;
}

export function rejectedMessage(problems: readonly Problem[], total: number): string {
  const [first] = problems;
  const start = first ? sentence(`Line ${first.line}: ${problemText(first)}`) : "";
  const rest = total > 1 ? ` The file has ${total} problems; a dry run lists them.` : "";
  return `Nothing was imported. ${start}${rest}`;
}

/** It has no `body`, because a file can have any media type, and a setting limits its size. */
function importOperation<T>(what: "pets" | "orders", rows: RowKind<T>): AdminDeclaration {
  const columns = Object.keys(rows.columns);
  const [id] = columns;
  return {
    method: "POST",
    path: `/${what}/import`,
    isLong: true,
    kind: "making",
    takesPlace: true,
    readsFile: true,
    tries,
    contract: {
      summary: `Import ${what}`,
      description: `Adds and updates ${what} from a file. All rows are imported, or none. A row with a known \`${id}\` updates the fields that it gives. The columns are ${columns.map((column) => `\`${column}\``).join(", ")}.

With \`dryRun=true\`, nothing is changed: the response lists what is wrong with the file and what would change. Without it, a file with a problem gets 400.

Imports and undos of several changes share two places in each instance, and keys take turns. If the connection ends before the whole file has arrived, nothing is imported.`,
      parameters: [
        importFormatParameter,
        dryRun,
        fileName(what),
        delimiterParameter,
        headerMap(columns),
      ],
      body: {
        description:
          "The file, not compressed. A text is in UTF-8, and CSV may be in Windows-1252. Of a workbook, the first sheet is read. Its media type is ignored. It can have up to 64 MiB, unless the service is configured differently.",
        others: {
          "application/octet-stream": {
            schema: schema.text("The bytes of the file."),
            examples: {},
          },
        },
      },
      success: {
        200: json("What was imported, or what a dry run found.", "Import", {
          examples: {
            dry_run: { summary: "A dry run", value: exampleImport },
            problem: { summary: "A dry run of a file with a problem", value: exampleRejected },
            imported: {
              summary: "An import",
              value: { ...exampleImport, dryRun: false, columns: [], ...noDifferences },
            },
          },
        }),
      },
      messages: {
        invalid_request: {
          rejected: rejectedMessage([exampleProblem], 4),
          incomplete: incompleteBody,
        },
        payload_too_large: { payload_too_large: bodyTooLarge(64 * 1_048_576) },
        unsupported_media_type: { compressed: compressedBody },
      },
      descriptions: {
        unavailable:
          "The store cannot be used at the moment, or the import failed for a reason other than the file. `message` says why.",
      },
    },
    async run({ admin }, call, fields) {
      const run = readRun(what, rows.columns, call, fields);
      const outcome = await admin.work.importFile(run, call.file!, call.request.signal);
      return { status: 200, body: JSON.stringify(importOf(run, outcome)) };
    },
  };
}

export const importPets = importOperation("pets", petRows);
export const importOrders = importOperation("orders", orderRows);
