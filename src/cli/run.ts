import { ServiceError } from "../domain/errors.ts";
import { InvalidField } from "../domain/invalid-field.ts";
import { print } from "../output.ts";
import { packageVersion } from "../version.ts";
import type { Command } from "./command.ts";
import { commands } from "./commands.ts";
import { parseArguments } from "./flags.ts";
import { commandHelp, exitCodesHelp, generalHelp, groupHelp, settingsHelp } from "./help.ts";
import { finalExitCode, watchSignals } from "./interruption.ts";

/** Runs the command that the arguments name, or prints help or the version. Returns the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  if (args[0] === "--version") {
    print(packageVersion());
    return 0;
  }
  if (isHelp(args)) {
    process.stdout.write(helpFor(args));
    return 0;
  }
  const command = findCommand(args);
  if (!command) throw unknownCommand(args);
  const input = parseArguments(command, args.slice(command.name.split(" ").length));
  if (command.topic !== "serve") watchSignals(command.changes ?? false);
  try {
    return finalExitCode(await command.run(input));
  } catch (error) {
    throw error instanceof InvalidField ? withFlagName(error, command) : error;
  }
}

/** The command whose name the arguments start with. */
export function findCommand(args: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(" ").every((word, at) => word === args[at]));
}

/** The commands of two words that start with this one. */
function groupOf(word: string | undefined): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(`${word} `));
}

const isHelpFlag = (word: string) => word === "--help" || word === "-h";

function isHelp(args: readonly string[]): boolean {
  return args.length === 0 || args[0] === "help" || args.some(isHelpFlag);
}

const pages: ReadonlyMap<string, () => string> = new Map([
  ["settings", settingsHelp],
  ["exit-codes", exitCodesHelp],
]);

/** The text that `petstore help …` or a command with --help prints. */
export function helpFor(args: readonly string[]): string {
  const isTopic = args[0] === "help";
  const topic = args.slice(isTopic ? 1 : 0).filter((word) => !isHelpFlag(word));
  const command = findCommand(topic);
  if (command) return commandHelp(command);
  const group = groupOf(topic[0]);
  if (group.length > 0) return groupHelp(group);
  const writePage = isTopic ? pages.get(topic[0]!) : undefined;
  if (writePage) return writePage();
  if (isTopic && topic.length > 0) throw unknownCommand(topic);
  return generalHelp(commands);
}

function unknownCommand(args: readonly string[]): ServiceError {
  const hasGroup = groupOf(args[0]).length > 0;
  const name = args.slice(0, hasGroup ? 2 : 1).join(" ");
  const help = hasGroup ? `petstore help ${args[0]}` : "petstore --help";
  return new ServiceError("invalid_request", `unknown command '${name}'; see ${help}`);
}

/** The same error with the name of the flag instead of the domain's name for the field. */
function withFlagName({ field, rule, code }: InvalidField, { flags }: Command): ServiceError {
  const [name = field] =
    Object.entries(flags).find(([flag, definition]) => (definition.field ?? flag) === field) ?? [];
  return new ServiceError(code, `--${name} ${rule}`);
}
