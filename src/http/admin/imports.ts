import { type Problem, problemText } from "../../domain/catalogue/import-problems.ts";
import type { ImportOutcome, ImportRun } from "../../domain/catalogue/import-runs.ts";
import { fileNameRule, importReasonOf } from "../../domain/catalogue/imports.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { queryOf, singleValue } from "../api/parameters.ts";
import { readChunks } from "../messages/body.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { actorOf } from "./actor.ts";
import { readFormat } from "./formats.ts";

export const importPets = (context: Context, call: Call) => importFile("pets", context, call);
export const importOrders = (context: Context, call: Call) => importFile("orders", context, call);

export const importRunning = "Another import is being made. Try again when it has ended.";
export const importNameInvalid = `Query parameter 'name' ${fileNameRule}.`;
export const dryRunInvalid = "Query parameter 'dryRun' must be true or false.";

async function importFile(what: ImportRun["what"], { admin }: Context, call: Call): Promise<Reply> {
  const { request, setIdleTimeout } = call;
  const run = readRun(what, call);
  const bytes = readChunks(request, admin.importBytesMax);
  // While the file arrives, a silent client is cut off as usual.
  const waitForImport = () => setIdleTimeout(0);
  try {
    const outcome = await admin.imports.run(run, bytes, waitForImport, request.signal);
    return { status: 200, body: JSON.stringify(importOf(run, outcome)) };
  } finally {
    setIdleTimeout(admin.idleTimeoutSeconds);
  }
}

function readRun(what: ImportRun["what"], call: Call): ImportRun {
  const query = queryOf(call.request);
  const given = singleValue(query, "name");
  const format = readFormat(query, given);
  const name = given ?? `${what}.${format}`;
  if (importReasonOf(name) === undefined) {
    throw new ServiceError("invalid_request", importNameInvalid);
  }
  return { what, format, isDryRun: readDryRun(query), name, actor: actorOf(call) };
}

function readDryRun(query: URLSearchParams): boolean {
  const text = singleValue(query, "dryRun") ?? "false";
  if (text !== "true" && text !== "false") throw new ServiceError("invalid_request", dryRunInvalid);
  return text === "true";
}

/** The body of the response. Throws if nothing was imported, except after a dry run. */
function importOf({ isDryRun: dryRun }: ImportRun, outcome: ImportOutcome) {
  switch (outcome.kind) {
    case "running":
      throw new ServiceError("already_running", importRunning);
    case "failed":
      throw new ServiceError("unavailable", `The import failed: ${outcome.reason}.`);
    case "rejected": {
      const { problems, total } = outcome;
      if (!dryRun) throw new ServiceError("invalid_request", rejectedMessage(problems, total));
      const counts = { created: 0, changed: 0, unchanged: 0 };
      return { dryRun, ...counts, problems: problemsOf(problems, total), ...noDifferences };
    }
    case "imported": {
      const { counts, differences } = outcome;
      const found = differences ? { differences } : noDifferences;
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

const formatNames: Readonly<Record<string, string>> = {
  csv: "CSV",
  json: "a JSON array",
  ndjson: "NDJSON, with one JSON object per line",
};

/** What to do about a file that is not in the format that was given. */
export function formatHint(format: string): string {
  return `The file looks like ${formatNames[format]}. Import it with the format ${format}.`;
}

/** Some rules end with a question about the file. */
function sentence(text: string): string {
  return text.endsWith("?") ? text : `${text}.`;
}

export function rejectedMessage(problems: readonly Problem[], total: number): string {
  const [first] = problems;
  const start = first ? sentence(`Line ${first.line}: ${problemText(first)}`) : "";
  const rest = total > 1 ? ` The file has ${total} problems; a dry run lists them.` : "";
  return `Nothing was imported. ${start}${rest}`;
}
