import type { Setting } from "../settings/setting.ts";
import { type SettingName, settings } from "../settings.ts";
import type { Command, Flag } from "./command.ts";

/** The command with its operands and its flags. Optional flags are in brackets. */
export function synopsisOf({ name, operands, flags }: Command): string {
  const own = Object.entries(flags).map(([flag, definition]) => {
    const text = flagWithValue(flag, definition);
    return definition.required ? text : `[${text}]`;
  });
  return ["petstore", name, ...operands.map((operand) => operand.name), ...own].join(" ");
}

export function generalHelp(commands: readonly Command[]): string {
  return `petstore: the Pet Store Inventory Service

Usage: petstore COMMAND [OPERANDS] [FLAGS]
       petstore help COMMAND
       petstore --version

Commands:
${commandRows(commands)}

Settings, with a flag or an environment variable. The flag overrides the variable.
${settingRows(Object.keys(settings) as SettingName[])}
`;
}

/** Help for the commands that share a first word. */
export function groupHelp(commands: readonly Command[]): string {
  return `${commandRows(commands)}\n`;
}

export function commandHelp(command: Command): string {
  const flags = Object.entries(command.flags).map(([name, flag]) => [
    flagWithValue(name, flag),
    flag.description,
  ]);
  const sections = [
    plain(command.summary),
    `Usage: ${synopsisOf(command)}`,
    section(
      "Operands:",
      columns(command.operands.map(({ name, description }) => [name, description])),
    ),
    section("Flags:", columns(flags)),
    section("Settings:", settingRows(command.settings)),
  ];
  return `${sections.filter(Boolean).join("\n\n")}\n`;
}

function section(title: string, rows: string): string {
  return rows && `${title}\n${rows}`;
}

function commandRows(commands: readonly Command[]): string {
  return columns(
    commands.map(({ name, operands, summary }) => [
      [name, ...operands.map((operand) => operand.name)].join(" "),
      plain(summary),
    ]),
  );
}

function settingRows(names: readonly SettingName[]): string {
  return columns(
    names.map((name) => {
      const setting: Setting<unknown> = settings[name];
      const text = plain(setting.description);
      return [
        flagWithValue(setting.flag, setting),
        setting.variable,
        setting.default ? `${text} [${setting.default}]` : text,
      ];
    }),
  );
}

/** Removes the Markdown that the tables in docs/operating.md need. */
function plain(text: string): string {
  return text.replaceAll("`", "");
}

function flagWithValue(name: string, { placeholder }: Pick<Flag, "placeholder">): string {
  return placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`;
}

/** Rows of a table, indented. Each column but the last is as wide as its longest cell. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  return rows
    .map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at]!)).join("  ")}`.trimEnd())
    .join("\n");
}
