import type { Setting } from "../settings/setting.ts";
import { type SettingName, settingNames, settings } from "../settings.ts";
import { packageVersion } from "../version.ts";
import { type Command, type Flag, topics } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { columns, plain, wrap } from "./paragraphs.ts";

/** The command with its operands and its flags. Optional flags are in brackets. */
export function synopsisOf(command: Command): string {
  return usageWords(command).join(" ");
}

/** The words of the synopsis. A line may break between them. */
function usageWords({ name, operands, flags }: Command): readonly string[] {
  const own = Object.entries(flags).map(([flag, definition]) => {
    const text = flagWithValue(flag, definition);
    return definition.required ? text : `[${text}]`;
  });
  const words = operands.map(({ name: one, isOptional }) => (isOptional ? `[${one}]` : one));
  return ["petstore", name, ...words, ...own];
}

export function generalHelp(commands: readonly Command[]): string {
  const rows = commandRows(commands);
  // All topics have the same width, so that the summaries are below each other.
  const width = Math.max(...rows.map(([name]) => name.length));
  const listed = Object.entries(topics).map(([topic, title]) => {
    const ofTopic = rows.filter((_, at) => commands[at]!.topic === topic);
    return section(title, columns(ofTopic, width));
  });
  return page([
    `petstore: the Pet Store Inventory Service, version ${packageVersion()}`,
    "Usage: petstore COMMAND [OPERANDS] [FLAGS]",
    ...listed,
    section(
      "More",
      columns([
        ["petstore help COMMAND", "A command: usage, flags and examples. Same as COMMAND --help."],
        ["petstore help settings", "All settings: flags, environment variables and defaults."],
        ["petstore help exit-codes", "What the exit code of a command means."],
        ["petstore --version", "The version."],
      ]),
    ),
  ]);
}

/** Help for the commands that share a first word. */
export function groupHelp(commands: readonly Command[]): string {
  const group = commands[0]!.name.split(" ")[0];
  return page([
    section("Commands", columns(commandRows(commands))),
    `petstore help ${group} COMMAND shows usage, flags and examples.`,
  ]);
}

export function settingsHelp(): string {
  return page([
    wrap(
      "A setting is a flag of every command, an environment variable, or a key of the file that --config names. The flag overrides the variable, and the variable overrides the file. Commands ignore the settings that they do not need.",
    ),
    section("Settings", settingRows(settingNames)),
  ]);
}

export function exitCodesHelp(): string {
  return page([
    section("Exit codes", columns(exitCodes.map(([code, text]) => [code, plain(text)]))),
  ]);
}

export function commandHelp(command: Command): string {
  const flags = Object.entries(command.flags).map(([name, flag]) => [
    flagWithValue(name, flag),
    flag.description,
  ]);
  const operands = command.operands.map(({ name, description }) => [name, description]);
  return page([
    wrap(plain(command.summary)),
    wrap(["Usage:", ...usageWords(command)], "         "),
    section("Operands", columns(operands)),
    section("Flags", columns(flags)),
    section("Settings", settingRows(command.settings)),
    section("Examples", command.examples.map((example) => `  ${example}`).join("\n")),
  ]);
}

function page(sections: readonly string[]): string {
  return `${sections.filter(Boolean).join("\n\n")}\n`;
}

function section(title: string, rows: string): string {
  return rows && `${title}:\n${rows}`;
}

function commandRows(commands: readonly Command[]) {
  return commands.map(({ name, operands, summary }) => {
    const words = [name, ...operands.map((operand) => operand.name)];
    return [words.join(" "), plain(summary)] as const;
  });
}

function settingRows(names: readonly SettingName[]): string {
  return columns(
    names.map((name) => {
      const setting: Setting<unknown> = settings[name];
      const { variable, default: initial } = setting;
      const source = initial ? `${variable}, default ${initial}` : variable;
      return [flagWithValue(setting.flag, setting), `${plain(setting.description)} [${source}]`];
    }),
  );
}

function flagWithValue(name: string, { placeholder }: Pick<Flag, "placeholder">): string {
  return placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`;
}
