import { readFileSync } from "node:fs";
import { Refusal } from "../domain/errors.ts";
import { InvalidField } from "../domain/invalid-field.ts";
import { print } from "../output.ts";
import type { Command } from "./command.ts";
import { commands } from "./commands.ts";
import { parseArguments } from "./flags.ts";
import { commandHelp, generalHelp, groupHelp } from "./help.ts";

/** Runs the command that the arguments name, or prints help or the version. Returns the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const [first] = args;
  if (first === "--version") {
    print(packageVersion());
    return 0;
  }
  if (first === "help" && args.length > 1) return printHelp(helpFor(args.slice(1)), args.slice(1));
  if (first === undefined || first === "help" || args.includes("--help")) {
    return printHelp(helpFor(args) ?? generalHelp(commands), args);
  }
  const command = findCommand(args);
  if (!command) throw unknownCommand(args);
  const input = parseArguments(command, args.slice(command.name.split(" ").length));
  try {
    return await command.run(input);
  } catch (error) {
    throw error instanceof InvalidField ? withFlagName(error, command) : error;
  }
}

/** The command whose name the arguments start with. */
function findCommand(args: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(" ").every((word, at) => word === args[at]));
}

/** The commands that share the first argument as the first word of two. */
function groupOf([first]: readonly string[]): readonly Command[] {
  return commands.filter(({ name }) => name.startsWith(`${first} `));
}

function helpFor(args: readonly string[]): string | undefined {
  const command = findCommand(args);
  if (command) return commandHelp(command);
  const group = groupOf(args);
  return group.length > 0 ? groupHelp(group) : undefined;
}

function printHelp(text: string | undefined, args: readonly string[]): number {
  if (text === undefined) throw unknownCommand(args);
  process.stdout.write(text);
  return 0;
}

function unknownCommand(args: readonly string[]): Refusal {
  const hasGroup = groupOf(args).length > 0;
  const name = args.slice(0, hasGroup ? 2 : 1).join(" ");
  const help = hasGroup ? `petstore help ${args[0]}` : "petstore --help";
  return new Refusal("invalid_request", `unknown command '${name}'; see ${help}`);
}

/** The same error with the name of the flag instead of the domain's name for the field. */
function withFlagName({ field, rule, code }: InvalidField, { flags }: Command): Refusal {
  const [name = field] =
    Object.entries(flags).find(([flag, definition]) => (definition.field ?? flag) === field) ?? [];
  return new Refusal(code, `--${name} ${rule}`);
}

function packageVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
