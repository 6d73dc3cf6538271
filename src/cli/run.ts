import { InvalidField, invalidRequest, ServiceError } from "../domain/running/errors.ts";
import { findNearest } from "../domain/values/nearest.ts";
import { hideTyped, print } from "../output.ts";
import { packageVersion } from "../version.ts";
import type { Command } from "./command.ts";
import { commands } from "./commands.ts";
import { parseArguments } from "./flags.ts";
import { commandHelp, exitCodesHelp, generalHelp, groupHelp, settingsHelp } from "./help.ts";
import { finalExitCode, watchSignals } from "./interruption.ts";

/** Runs the command that the arguments name, or prints help or the version. Returns the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  hideTyped(args.map((arg) => arg.replace(/^--[^=]*=/, "")));
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
  if (command.topic !== "serve") watchSignals(command.changes === true);
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
  const [word, second] = args;
  if (hasGroup && (second === undefined || second.startsWith("-"))) {
    const seconds = groupOf(word).map(({ name }) => name.split(" ")[1]);
    return invalidRequest(
      `'${word}' needs a second word: ${seconds.join(", ")}; see petstore help ${word}`,
    );
  }
  const name = args.slice(0, hasGroup ? 2 : 1).join(" ");
  const help = hasGroup ? `petstore help ${args[0]}` : "petstore --help";
  const nearest = nearestCommand(args);
  const advice = nearest === undefined ? `see ${help}` : `did you mean ${nearest}?`;
  return invalidRequest(`unknown command '${name}'; ${advice}`);
}

/** The command, or the first word of commands, that was probably meant. */
function nearestCommand(args: readonly string[]): string | undefined {
  const flagsAt = args.findIndex((word) => word.startsWith("-"));
  const [first = "", second] = flagsAt < 0 ? args : args.slice(0, flagsAt);
  const names = commands.map(({ name }) => name);
  const pairs = names.filter((name) => name.includes(" "));
  if (second !== undefined) {
    // Word by word, so that a right first word does not make up for a wrong second one.
    const group = findNearest(first, new Set(pairs.map((name) => name.split(" ")[0]!)));
    const inGroup = pairs.filter((name) => name.startsWith(`${group} `));
    const word = findNearest(
      second,
      inGroup.map((name) => name.split(" ")[1]!),
    );
    if (word !== undefined) return `${group} ${word}`;
  }
  if (groupOf(first).length > 0) return undefined;
  return findNearest(first, new Set(names.map((name) => name.split(" ")[0]!)));
}

/** The same error with the name of the flag instead of the domain's name for the field. */
function withFlagName({ field, rule, code }: InvalidField, { flags }: Command): ServiceError {
  const [name = field] =
    Object.entries(flags).find(([flag, definition]) => (definition.field ?? flag) === field) ?? [];
  return new ServiceError(code, `--${name} ${rule}`);
}

/** The one line that a command prints if it fails with this error. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  // Errors of the service are one line, whatever they quote. Others may have many.
  return error instanceof ServiceError ? asFragment(message) : message.split("\n")[0]!;
}

/** The domain writes sentences, and the command line prints fragments: "petstore: there is no …". */
function asFragment(message: string): string {
  const isOneSentence = /^[A-Z][a-z]* .*\.$/s.test(message) && !message.includes(". ");
  return isOneSentence ? message[0]!.toLowerCase() + message.slice(1, -1) : message;
}
