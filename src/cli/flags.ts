import { parseArgs } from "node:util";
import { invalidRequest, type ServiceError } from "../domain/running/errors.ts";
import { parseInt64 } from "../domain/values/int64.ts";
import { findNearest } from "../domain/values/nearest.ts";
import { parseDuration as parseDurationMs, parseInstant } from "../domain/values/times.ts";
import type { Setting } from "../settings/setting.ts";
import { settings } from "../settings.ts";
import type { Command, Flag, Input } from "./command.ts";
import { synopsisOf } from "./help.ts";

const settingFlags: ReadonlyMap<string, Pick<Flag, "placeholder">> = new Map(
  Object.values(settings).map((setting: Setting<unknown>) => [setting.flag, setting]),
);

/** Splits the arguments of a command into flags, settings and operands, and checks them. */
export function parseArguments(command: Command, args: readonly string[]): Input {
  const { flags, operands } = tokenize(command, args);
  checkOperands(command, operands);
  for (const [name, flag] of Object.entries(command.flags)) {
    if (flag.required && !flags.get(name)) throw incomplete(command, `--${name} is required`);
  }
  const own = Object.entries(command.flags).map(([name, flag]) => [
    name,
    flag.placeholder === undefined ? flags.has(name) : flags.get(name),
  ]);
  return {
    flags: Object.fromEntries(own),
    operands: command.operands.map((_, at) => operands[at] ?? ""),
    settings: Object.fromEntries([...flags].filter(([name]) => settingFlags.has(name))),
  };
}

interface Tokens {
  /** Values by flag: `on` for a flag without a value. If a flag is repeated, the last value counts. */
  readonly flags: ReadonlyMap<string, string>;
  readonly operands: readonly string[];
}

function tokenize(command: Command, args: readonly string[]): Tokens {
  const options = Object.fromEntries(
    [...settingFlags, ...Object.entries(command.flags)].map(
      ([name, { placeholder }]) => [name, { type: placeholder ? "string" : "boolean" }] as const,
    ),
  );
  // Not strict, because the messages of parseArgs differ between versions of the runtime.
  const parsed = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const flags = new Map<string, string>();
  const operands = new Map<number, string>();
  for (const token of parsed.tokens) {
    const { kind, index } = token;
    // A negative number is an operand: no flag starts with a digit.
    if (kind === "positional" || /^-[0-9]+$/.test(args[index]!)) operands.set(index, args[index]!);
    if (kind !== "option" || operands.has(index)) continue;
    const { name, rawName, value } = token;
    if (rawName !== `--${name}` || !Object.hasOwn(options, name)) {
      throw unknownFlag(command, args[index]!.split("=")[0]!, Object.keys(options));
    }
    if (options[name]!.type === "boolean") {
      if (value !== undefined) throw invalid(command, `${rawName} does not take a value`);
    } else if (value === undefined) throw invalid(command, `${rawName} needs a value`);
    else if (!token.inlineValue && /^-./.test(value)) {
      // A forgotten value must not swallow the flag that follows.
      const rule = `needs a value; write ${rawName}=VALUE for one that starts with '-'`;
      throw invalidRequest(`${rawName} ${rule}`);
    }
    const earlier = command.flags[name]?.repeatable && flags.get(name);
    flags.set(name, earlier ? `${earlier}\n${value}` : (value ?? "on"));
  }
  return { flags, operands: [...operands.values()] };
}

function unknownFlag(command: Command, typed: string, known: readonly string[]): ServiceError {
  const nearest = findNearest(typed.replace(/^-+/, ""), known);
  if (nearest === undefined) return invalid(command, `unknown flag '${typed}'`);
  const advice = `did you mean --${nearest}?`;
  return invalidRequest(`unknown flag '${typed}'; ${advice}`);
}

function checkOperands(command: Command, operands: readonly string[]): void {
  const missing = command.operands[operands.length];
  if (missing && !missing.isOptional) throw incomplete(command, `${missing.name} is required`);
  const extra = operands[command.operands.length];
  if (extra !== undefined) throw invalid(command, `unexpected operand '${extra}'`);
}

function incomplete(command: Command, problem: string): ServiceError {
  return invalidRequest(`${problem}; usage: ${synopsisOf(command)}`);
}

function invalid(command: Command, problem: string): ServiceError {
  return invalidRequest(`${problem}; see petstore help ${command.name}`);
}

/** These functions convert the values of flags. The domain rejects NaN and names the rule. */

export function parseCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^[1-9][0-9]*$/.test(text) ? Number(text) : Number.NaN;
}

export function parseTime(text: string | undefined): number | undefined {
  return text === undefined ? undefined : (parseInstant(text) ?? Number.NaN);
}

export function parseList(text: string | undefined): readonly string[] | undefined {
  return text?.split(",").map((item) => item.trim());
}

export function parseDuration(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const durationMs = parseDurationMs(text);
  if (durationMs !== undefined) return durationMs;
  throw invalidRequest(`--${flag} must be a duration such as 30m, 24h or 7d`);
}

export function parsePetId(name: string, text: string): bigint {
  const petId = parseInt64(text);
  if (petId !== undefined) return petId;
  throw invalidRequest(`${name} must be a 64-bit integer, not '${text}'`);
}

/** Reads a number of rows, or the `seq` of a ledger row. `name` is the flag or the operand. */
export function parseInteger(name: string, text: string, min: number): number {
  const value = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= Number.MAX_SAFE_INTEGER) return value;
  const rule = `must be an integer from ${min} to ${Number.MAX_SAFE_INTEGER}`;
  throw invalidRequest(`${name} ${rule}, not '${text}'`);
}

/** The same for an optional flag. */
export function parseOptional(name: string, text: string | undefined, min: number) {
  return text === undefined ? undefined : parseInteger(name, text, min);
}
