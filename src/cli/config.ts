import type { ReadSetting } from "../config/reading.ts";
import { explainConfig } from "../config.ts";
import { print, printWarning, withoutSecrets } from "../output.ts";
import { shownValue } from "../settings/setting.ts";
import { settingGroups, settingNames } from "../settings.ts";
import { command, json } from "./command.ts";
import { counted, lineWidthMax, plain, wrap } from "./paragraphs.ts";

const indent = "    ";

/** Prints what a command with the same flags would use. Returns exit code 1 if that is not valid. */
export const configCommand = command({
  name: "config",
  summary: "Shows every setting, its value and where the value comes from.",
  examples: ["petstore config --env staging", "petstore config --port 9000 --json"],
  flags: { json },
  settings: settingNames,
  async run({ flags, settings }) {
    const { all, problems: found, warnings } = explainConfig(settings);
    const problems = found.map(withoutSecrets);
    for (const warning of warnings) printWarning(warning);
    const groups = settingGroups.map(({ title, settings: members }) => ({
      title,
      rows: all.filter(({ name }) => name in members).map((read) => toRow(read, all)),
    }));
    if (flags.json) {
      const rows = groups.flatMap(({ title, rows }) =>
        rows.map((row) => ({ group: title, ...row })),
      );
      print(JSON.stringify({ valid: problems.length === 0, problems, settings: rows }));
    } else {
      for (const { title, rows } of groups) {
        print(title);
        for (const line of rows.flatMap(linesOf).join("\n").split("\n")) print(line);
        print("");
      }
      printProblems(problems);
    }
    return problems.length === 0 ? 0 : 1;
  },
});

function printProblems(problems: readonly string[]): void {
  if (problems.length === 0) {
    print("All settings are valid.");
    return;
  }
  const count = counted(problems.length, "problem");
  print(`${count}. A command with these settings fails.`);
  for (const problem of problems) print(`  ${problem}`);
}

type Row = ReturnType<typeof toRow>;

/** A setting as it is printed. `value` is null if it is off, and `source` is null for a default. */
function toRow({ setting, text, ...read }: ReadSetting, all: readonly ReadSetting[]) {
  const environment = all.find(({ name }) => name === "environment")?.value;
  const value = shownValue(setting, text);
  return {
    flag: setting.flag,
    variable: setting.variable,
    value: value.replace("<env>", String(environment ?? "<env>")) || null,
    origin: read.origin,
    source: read.source || null,
    default: setting.default || null,
    unit: setting.unit ?? null,
    description: plain(setting.description),
    problem: read.problem === undefined ? null : withoutSecrets(read.problem),
  };
}

/** The value, its origin and its default on the first line, the meaning below it. */
function linesOf(row: Row): readonly string[] {
  const value = row.value === null ? "none" : [row.value, row.unit].filter(Boolean).join(" ");
  const initial = `default ${row.default ?? "none"}`;
  const origin = row.source === null ? "default" : `${row.origin} ${row.source}; ${initial}`;
  const first = `  ${row.flag} = ${value}`;
  const note = `(${row.problem === null ? "" : "not valid; "}${origin})`;
  const isShort = first.length + 2 + note.length <= lineWidthMax;
  return [
    ...(isShort ? [`${first}  ${note}`] : [first, wrap(note, indent, indent)]),
    wrap(row.description, indent, indent),
  ];
}
