import { extname } from "node:path";
import { yieldToEventLoop } from "../../domain/running/background.ts";
import { invalidRequest } from "../../domain/running/errors.ts";
import { csvLine } from "../../domain/values/spreadsheet-text.ts";
import { type Content, exportText, orderContent, petContent } from "../../files/exports.ts";
import { delimiterNames, type Format, formats, importFormats } from "../../files/formats.ts";
import { exampleOrder } from "../api/contract/examples.ts";
import {
  choiceParameter,
  type QueryParameter,
  readParameter,
  type Sent,
} from "../api/parameters.ts";
import { queryOf } from "../messages/fields.ts";
import type { AdminDeclaration } from "./admin-declaration.ts";
import { exampleFullPet } from "./contract/stock-schemas.ts";

const formatParameter = choiceParameter("format", formats, "The format of the file.", "csv");
export const importFormatParameter = choiceParameter(
  "format",
  importFormats,
  "The format of the file. By default, the extension of `name`.",
  "csv",
);
export const delimiterParameter = choiceParameter(
  "delimiter",
  delimiterNames,
  "What stands between the cells of a CSV file. By default, the one that the header has most often.",
  "semicolon",
);

/** The format of a file, by the parameter or by the extension of the file's name. */
export function readFormat<F extends string>(
  sent: Sent,
  parameter: QueryParameter<F>,
  fileName = "",
): F {
  const extension = extname(fileName).slice(1).toLowerCase();
  const format = readParameter(sent, parameter) ?? parameter.parse(extension);
  if (format === undefined) throw invalidRequest(parameter.message);
  return format;
}

const mediaTypeOf: Record<Format, string> = {
  csv: "text/csv",
  ndjson: "application/x-ndjson",
  json: "application/json",
};

/** Reading and writing so many rows takes a few milliseconds of the event loop. */
const pageRows = 500;

/** Lets other requests run between two pages. */
async function* encoded(text: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const piece of text) {
    if (piece !== "") yield Buffer.from(piece);
    await yieldToEventLoop();
  }
}

const formulaNote = `

In CSV, an apostrophe stands before \`=\`, \`+\`, \`-\`, \`@\` and their full-width forms, a tab and CR, where a spreadsheet program could run them as a formula: at the start of a text, and in it after a comma, semicolon, bar, tab or line break, also if quotes or apostrophes are between. An import removes it.`;

function exportOperation<Row>(
  what: "pets" | "orders",
  content: Content<Row>,
  row: Readonly<Record<string, unknown>>,
): AdminDeclaration {
  const { columns } = content;
  const text = (description: string, value: string) => ({
    schema: { type: "string", description },
    examples: { file: { summary: "One row", value } },
  });
  return {
    method: "GET",
    path: `/${what}/export`,
    contract: {
      summary: `Export ${what}`,
      description: `Returns all ${what} as a file, in the columns that an import reads. Rows are read while the file is sent, so a change made during that time may or may not be in it. \`petstore ${what} export\` writes all rows as of one moment.${what === "pets" ? formulaNote : ""}`,
      parameters: [{ ...formatParameter, required: true }],
      success: {
        200: {
          description: "The file.",
          headers: ["Content-Disposition"],
          schema: { type: "array", items: { type: "object" } },
          examples: { file: { summary: "One row", value: [row] } },
          others: {
            [mediaTypeOf.csv]: text(
              'Comma-separated values (RFC 4180), with a header. An ID of more than 15 digits is written as ="9007199254740993", so that spreadsheet programs keep all its digits.',
              `${Object.keys(columns).join()}\n${csvLine(columns, row)}\n`,
            ),
            [mediaTypeOf.ndjson]: text("One JSON object per line.", `${JSON.stringify(row)}\n`),
          },
        },
      },
    },
    async handle({ store, clock, snapshots }, call) {
      const format = readFormat(queryOf(call.request), formatParameter);
      const date = new Date(clock.now()).toISOString().slice(0, 10);
      const headers = {
        "Content-Type": mediaTypeOf[format],
        "Content-Disposition": `attachment; filename="${what}-${date}.${format}"`,
      };
      const body = await snapshots.open(call, async () =>
        encoded(exportText(store.catalogue, content, format, pageRows)),
      );
      return { status: 200, body, headers };
    },
  };
}

const { version: _, ...examplePet } = exampleFullPet;

export const exportPets = exportOperation("pets", petContent, examplePet);
export const exportOrders = exportOperation("orders", orderContent, exampleOrder);
