import { closeSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { parse, TomlError, type TomlValue } from "smol-toml";
import { shownAddress } from "../domain/values/hiding.ts";
import { findNearest } from "../domain/values/nearest.ts";
import { reasonOf } from "../file-errors.ts";
import { kindOf, type Setting } from "../settings/setting.ts";
import { settings } from "../settings.ts";

/** The text of a setting, and where it is in the file. */
type FileEntry = Readonly<{ text: string; line: number }>;

/** What a settings file contains. */
export interface SettingsFile {
  /** Values by the flag of their setting. */
  readonly entries: ReadonlyMap<string, FileEntry>;
  readonly problems: readonly string[];
  /** Whether users other than its owner can read the file. */
  readonly isReadableByOthers: boolean;
}

export const noSettingsFile: SettingsFile = {
  entries: new Map(),
  problems: [],
  isReadableByOthers: false,
};

const byFlag: ReadonlyMap<string, Setting<unknown>> = new Map(
  Object.values(settings).map((setting) => [setting.flag, setting]),
);

const filesRead = new Map<string, SettingsFile>();

/** Reads a settings file, once per process: it may be a pipe, which can be read only once. */
export function readSettingsFile(path: string): SettingsFile {
  const known = filesRead.get(path) ?? readFile(path);
  filesRead.set(path, known);
  return known;
}

/** Problems are collected, so that an operator sees all of them. */
function readFile(path: string): SettingsFile {
  const entries = new Map<string, FileEntry>();
  const problems: string[] = [];
  try {
    const text = readUtf8(path);
    for (const [key, value] of Object.entries(parse(text, { integersAsBigInt: true }))) {
      const line = lineOf(key, text);
      const problem = problemOf(key, value);
      if (problem === undefined) entries.set(key, { text: textOf(value), line });
      else problems.push(`${path}:${line}: ${problem}`);
    }
  } catch (error) {
    problems.push(
      error instanceof TomlError ? `${path}:${syntaxProblem(error)}` : (error as Error).message,
    );
  }
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return { entries, problems, isReadableByOthers: (mode & 0o044) !== 0 };
}

/** Without the lines around it, which the parser quotes: they can contain a secret. */
function syntaxProblem({ line, column, message }: TomlError): string {
  const [reason] = message.replace(/^.*?: /, "").split("\n", 1);
  return `${line}: ${reason}, at character ${column}; write texts in quotes and one key on a line`;
}

/** The parser names lines only in errors. A key can be in quotes, and can start a section. */
function lineOf(key: string, text: string): number {
  const start = new RegExp(`^\\s*\\[*\\s*(["']?)${RegExp.escape(key)}\\1\\s*[=.\\]]`);
  return text.split("\n").findIndex((line) => start.test(line)) + 1;
}

/** Many times the size of a file with every setting and a comment for each. */
const bytesMax = 64 * 1024;

function readUtf8(path: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readStart(path, bytesMax + 1);
  } catch (error) {
    throw new Error(`cannot read the settings file ${resolve(path)}: ${reasonOf(error)}`);
  }
  if (bytes.length > bytesMax) {
    throw new Error(`${resolve(path)} is not a settings file: it is longer than ${bytesMax} bytes`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`the settings file ${resolve(path)} is not valid UTF-8`);
  }
}

/** Reads at most `length` bytes. A pipe returns them in parts, and a device such as /dev/zero never ends. */
function readStart(path: string, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  const fd = openSync(path, "r");
  try {
    for (let at = 0; at < length; ) {
      const count = readSync(fd, bytes, at, length - at, null);
      if (count === 0) return bytes.subarray(0, at);
      at += count;
    }
    return bytes;
  } finally {
    closeSync(fd);
  }
}

function problemOf(key: string, value: TomlValue): string | undefined {
  const shown = shownAddress(key);
  if (isTable(value)) {
    return `${shown} is a section or a table; write every key on a line of its own, as port = 8080`;
  }
  const setting = byFlag.get(key);
  if (setting) return typeProblem(setting, value);
  const nearest = findNearest(key.replace(/^--/, ""), [...byFlag.keys()]);
  return `unknown key '${shown}'${nearest ? `; did you mean '${nearest}'?` : ""}`;
}

/** Why the setting cannot have this value. Every setting also accepts a text. */
function typeProblem(setting: Setting<unknown>, value: TomlValue): string | undefined {
  if (setting.flag === "config") return "config cannot be set in a settings file";
  const kind = kindOf(setting);
  const rule = {
    switch: "true or false",
    number: "a number",
    list: "a list of texts",
    text: "a text",
  };
  const isItem = (item: TomlValue) => typeof item === "string" && !item.includes(",");
  if (Array.isArray(value) && kind === "list") {
    if (value.every(isItem)) return undefined;
    return `${setting.flag} must be a list of texts without commas`;
  }
  const fits =
    typeof value === "string" ||
    value instanceof Date ||
    ((typeof value === "number" || typeof value === "bigint") && kind === "number") ||
    (typeof value === "boolean" && kind === "switch");
  if (fits) return undefined;
  return `${setting.flag} must be ${rule[kind]}, not ${Array.isArray(value) ? "an array" : value}`;
}

/** The value as a flag would give it. */
function textOf(value: TomlValue): string {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "boolean") return value ? "on" : "off";
  return Array.isArray(value) ? value.join(",") : String(value);
}

/** A section, a key with dots or a table in braces. Settings have none. */
function isTable(value: TomlValue): boolean {
  return typeof value === "object" && !Array.isArray(value) && !(value instanceof Date);
}
