/**
 * Writes tables into pages, between HTML comments that name them. With --check it writes
 * nothing and fails if a table differs from the code.
 */

import { readFileSync } from "node:fs";
import { topics } from "../src/cli/command.ts";
import { commands } from "../src/cli/commands.ts";
import { exitCodes } from "../src/cli/exit-codes.ts";
import { synopsisOf } from "../src/cli/help.ts";
import { readConfig } from "../src/config.ts";
import { petFields } from "../src/domain/catalogue/pet-fields.ts";
import { rolesFrom } from "../src/domain/keys/keys.ts";
import { type EventKind, events } from "../src/domain/running/events.ts";
import { adminTags, rolesOfTags } from "../src/http/admin/admin-declaration.ts";
import { planTable } from "../src/http/api/contract/overview.ts";
import type { ApiOperation } from "../src/http/api/declaration.ts";
import { apiBasePath, apiOperations } from "../src/http/api/operations.ts";
import { metrics } from "../src/metrics/table.ts";
import type { Setting } from "../src/settings/setting.ts";
import { settingGroups } from "../src/settings.ts";
import { drawRooms } from "./layers.ts";

/** The tables of each page, by the name in its comments. */
export const docTables: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  "README.md": {
    operations: () => operationTable(({ stability }) => stability !== "beta"),
    "beta operations": () => operationTable(({ stability }) => stability === "beta"),
    plans: planTable,
  },
  "ARCHITECTURE.md": { rooms: () => `\`\`\`\n${drawRooms()}\n\`\`\`` },
  "client/README.md": { methods: methodTable },
  "docs/commands.md": { commands: commandTables, "exit codes": exitCodeTable },
  "docs/configuration.md": { settings: settingTables },
  "docs/imports.md": { details: detailTable },
  "docs/keys.md": { roles: roleTable },
  "docs/logs.md": { events: eventTable },
  "docs/metrics.md": { metrics: metricTable },
};

/** The page with its tables up to date. The rest of the text is unchanged. */
export function withTables(path: string, page: string): string {
  return Object.entries(docTables[path]!).reduce((text, [name, content]) => {
    const pattern = new RegExp(`(<!-- ${name}:start -->\n).*(<!-- ${name}:end -->)`, "s");
    if (!pattern.test(text)) throw new Error(`${path} has no comments for the table of ${name}`);
    return text.replace(pattern, (_, start, end) => `${start}\n${content()}\n\n${end}`);
  }, page);
}

function operationTable(isListed: (operation: ApiOperation) => boolean): string {
  const rows = apiOperations(readConfig({}, {}))
    .filter(isListed)
    .map(({ method, path, contract, stability, deprecation }) => [
      code(`${method} ${apiBasePath}${path}`),
      firstSentence(contract.description) +
        (stability === "experimental" ? " Experimental." : "") +
        (deprecation ? " Deprecated: returns 410 from its sunset date on." : ""),
    ]);
  return table(["Operation", "Description"], rows);
}

/** The methods of the client, from their comments. */
function methodTable(): string {
  const files = ["inventory-client", "client"].map((name) => `../client/src/${name}.ts`);
  const sources = files.map((file) => readFileSync(new URL(file, import.meta.url), "utf8"));
  const methods = /\/\*\*((?:(?!\*\/).)*)\*\/\n {2}(\w+)\((.*?)\): (\S[^{]*) \{/gs;
  const rows = [...sources.join("").matchAll(methods)].map(
    ([, comment, name, parameters, result]) => [
      code(`${name}(${argumentsIn(parameters!)})`),
      `${firstSentence(comment!.replace(/\s+\* |\s+/g, " ").trim())}${marksIn(comment!)}`,
      code(result!.replace(/^ApiPromise<(.*)>$/, "$1").replace(", void, undefined", "")),
    ],
  );
  return table(["Method", "Description", "Result"], rows);
}

/** "petId: Id, options: CallOptions = {}" becomes "petId, options?". */
function argumentsIn(parameters: string): string {
  const names = parameters
    .trim()
    .split(/,\s*(?=\w+:|$)/)
    .filter(Boolean);
  return names.map((one) => one.replace(/:.*/, one.endsWith("= {}") ? "?" : "")).join(", ");
}

function marksIn(comment: string): string {
  const marks = ["Beta", "Experimental", "Deprecated"];
  const found = marks.filter((mark) => new RegExp(`(?<![\\w])@?${mark}\\b`, "i").test(comment));
  return found.map((mark) => ` ${mark}.`).join("");
}

function firstSentence(text: string): string {
  return /^.*?\.(?=\s|$)/s.exec(text)![0];
}

/** The pages that describe a command in more detail. */
const links: Readonly<Record<string, string>> = {
  history: "See [history.md](history.md).",
  verify: "See [Verify a store](backup.md#verify-a-store).",
  "migrate-store": "See [scaling.md](scaling.md#move-to-postgresql).",
  config: "See [configuration.md](configuration.md).",
};

function commandTables(): string {
  const parts = Object.entries(topics).map(([topic, title]) => {
    const rows = commands
      .filter((command) => command.topic === topic)
      .map((command) => [
        code(synopsisOf(command)),
        [command.summary, links[command.name]].filter(Boolean).join(" "),
      ]);
    return `### ${title}\n\n${table(["Command", "Description"], rows)}`;
  });
  return parts.join("\n\n");
}

function exitCodeTable(): string {
  return table(["Exit code", "Meaning"], exitCodes);
}

function settingTables(): string {
  const header = ["Flag", "Variable", "Default", "Unit", "Description"];
  const rowOf = ({ flag, variable, default: initial, unit, description }: Setting<unknown>) => [
    code(`--${flag}`),
    code(variable),
    initial === "" ? "none" : code(initial),
    unit ?? "",
    description,
  ];
  const parts = settingGroups.map(
    ({ title, settings }) => `### ${title}\n\n${table(header, Object.values(settings).map(rowOf))}`,
  );
  return parts.join("\n\n");
}

function eventTable(): string {
  const rows = Object.entries<EventKind>(events).map(([event, { level, meaning, action }]) => [
    code(event),
    level,
    meaning,
    action ?? "",
  ]);
  return table(["Event", "Level", "Meaning", "What to do"], rows);
}

const engineNames = { sqlite: "SQLite only. ", postgres: "PostgreSQL only. " } as const;

function metricTable(): string {
  const rows = Object.values(metrics).map(({ name, kind, labels, engine, help }) => [
    labels.length > 0 ? `${code(name)} by ${labels.map(code).join(", ")}` : code(name),
    kind,
    `${engine ? engineNames[engine] : ""}${help}`,
  ]);
  return table(["Metric", "Kind", "Meaning"], rows);
}

/** What an import can say about a pet, beside its stock. */
function detailTable(): string {
  const rows = petFields.map(({ name, description }) => [code(name), description]);
  return table(["Column", "Contents"], rows);
}

/** Who can read and who can change the parts of the operator API. */
function roleTable(): string {
  const rows = adminTags.map(({ name, description }) => [
    name,
    description,
    ...rolesOfTags[name].map((least) => rolesFrom(least).join(", ")),
  ]);
  return table(["Part", "About", "Who reads", "Who changes"], rows);
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`.replaceAll("|  |", "| |");
  return [line(header), `|${"---|".repeat(header.length)}`, ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}

if (import.meta.main) {
  for (const path of Object.keys(docTables)) {
    const file = Bun.file(new URL(`../${path}`, import.meta.url).pathname);
    const page = await file.text();
    const fresh = withTables(path, page);
    if (!process.argv.includes("--check")) await Bun.write(file, fresh);
    else if (page !== fresh) {
      console.error(`a table in ${path} differs from the code; run npm run generate`);
      process.exitCode = 1;
    }
  }
}
