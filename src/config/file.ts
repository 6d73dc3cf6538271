import { closeSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { shownAddress } from "../domain/values/hiding.ts";
import { findNearest } from "../domain/values/nearest.ts";
import { reasonOf } from "../file-errors.ts";
import { kindOf, type Setting } from "../settings/setting.ts";
import { settings } from "../settings.ts";
import { parseToml, TomlError, type TomlValue } from "./toml.ts";

/** The text of a setting, and where it is in the file. */
export interface FileEntry {
  readonly text: string;
  readonly line: number;
}

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
    for (const { key, line, value } of parseToml(readUtf8(path))) {
      const setting = byFlag.get(key);
      const problem = setting ? typeProblem(setting, value) : unknownKey(key);
      if (problem === undefined) entries.set(key, { text: textOf(value), line });
      else problems.push(`${path}:${line}: ${problem}`);
    }
  } catch (error) {
    const { line, message } = error as Partial<TomlError> & Error;
    problems.push(error instanceof TomlError ? `${path}:${line}: ${message}` : message);
  }
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return { entries, problems, isReadableByOthers: (mode & 0o044) !== 0 };
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

function unknownKey(key: string): string {
  const nearest = findNearest(key.replace(/^--/, ""), [...byFlag.keys()]);
  return `unknown key '${shownAddress(key)}'${nearest ? `; did you mean '${nearest}'?` : ""}`;
}

/** Why a value cannot be that of the setting. Every setting also accepts a text. */
function typeProblem(setting: Setting<unknown>, value: TomlValue): string | undefined {
  if (setting.flag === "config") return "config cannot be set in a settings file";
  const kind = kindOf(setting);
  const rule = {
    switch: "true or false",
    number: "a number",
    list: "a list of texts",
    text: "a text",
  };
  const isItem = (item: TomlValue) => item.type === "text" && !item.text.includes(",");
  const fits =
    value.type === "text" ||
    (value.type === "number" && kind === "number") ||
    (value.type === "boolean" && kind === "switch") ||
    (value.type === "array" && kind === "list" && value.items.every(isItem));
  if (fits) return undefined;
  const found = value.type === "array" ? "an array" : value.text;
  const isBadItem = value.type === "array" && kind === "list";
  return isBadItem
    ? `${setting.flag} must be a list of texts without commas`
    : `${setting.flag} must be ${rule[kind]}, not ${found}`;
}

/** The value as a flag would give it. */
function textOf(value: TomlValue): string {
  if (value.type === "array") return value.items.map(textOf).join(",");
  if (value.type === "boolean") return value.text === "true" ? "on" : "off";
  return value.text;
}
