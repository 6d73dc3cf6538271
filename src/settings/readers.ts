import { petsDeprecatedAt } from "../domain/catalogue/pets.ts";
import { changesMax } from "../domain/values/bounds.ts";
import { findUser } from "../domain/values/hiding.ts";
import { type Network, parseNetwork } from "../domain/values/networks.ts";
import { formatInstant, parseDuration, parseInstant } from "../domain/values/times.ts";

/**
 * Converts the text of a setting to its value. The message of an error follows the name of the flag
 * or variable, as in "--port must be …".
 */

/** An empty text means that the feature is off. */
export function optional<T>(read: (text: string) => T): (text: string) => T | undefined {
  return (text) => (text === "" ? undefined : read(text));
}

function readInteger(text: string, min: number, max: number, rule: string): number {
  const digits = min === 0 ? /^[0-9]{1,9}$/ : /^[1-9][0-9]{0,8}$/;
  const value = digits.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw new Error(`must be ${rule}`);
  return value;
}

export function readPort(text: string): number {
  return readInteger(text, 0, 65_535, "a port from 0 to 65535");
}

const countMax = 999_999_999;

export function readCount(text: string, min = 1): number {
  return readInteger(text, min, countMax, `an integer from ${min} to ${countMax}`);
}

/** A size in MiB, as a number of bytes. */
export function readMebibytes(text: string): number {
  return readInteger(text, 1, 1_024, "from 1 to 1024 MiB") * 1_048_576;
}

/** The number of changes that may wait. With fewer, a large batch would always be rejected. */
export function readChangesWaiting(text: string): number {
  const reason = `because a batch can have ${changesMax} changes`;
  const rule = `an integer from ${changesMax} to ${countMax}, ${reason}`;
  return readInteger(text, changesMax, countMax, rule);
}

/** Reads a number of minutes or another unit, as milliseconds. */
export function readCountOf(unitMs: number): (text: string) => number {
  return (text) => readCount(text) * unitMs;
}

export function readIdleTimeout(text: string): number {
  const seconds = readCount(text);
  if (seconds > 255) throw new Error("must be from 1 to 255 seconds");
  return seconds;
}

export function readDrain(text: string): number {
  return readInteger(text, 0, 3_600, "from 0 to 3600 seconds") * 1_000;
}

export function readNonEmpty(text: string): string {
  if (text === "") throw new Error("must not be empty");
  return text;
}

/** Other addresses are refused: a folder with the name `https:`, or of a password, would be on this machine. */
export function readBackupFolder(text: string): string {
  const isOther = /^(?!s3:\/\/[^/])[A-Za-z][\w+.-]+:\//.test(text);
  if (isOther || findUser(text) !== undefined)
    throw new Error("must be a folder, or a bucket as s3://BUCKET/PREFIX");
  return readNonEmpty(text);
}

/** An empty address means the default one. */
export function readDatabaseUrl(text: string): string {
  if (text === "") return text;
  // sqlite://data/shop.db is rejected: in a URL, `data` is a host and not a folder.
  if (!/^(sqlite:(?!\/\/[^/]).+|postgres(ql)?:\/\/.+)$/.test(text)) {
    throw new Error("must be sqlite:PATH or postgres://…");
  }
  if (text.startsWith("postgres")) checkCredentials(text);
  return text;
}

const encoding = "percent-encode @ in the password as %40, / as %2F, ? as %3F, # as %23, % as %25";

/**
 * Rejects an address in which part of the password could be parsed as the host. That part would be
 * sent to a name server, and error messages would show it.
 */
function checkCredentials(text: string): void {
  const [, authority = "", rest = ""] = /^\w+:\/\/([^/?#]*)(.*)$/s.exec(text) ?? [];
  if (authority.split("@").length > 2 || rest.includes("@")) {
    throw new Error(`has an unexpected @; ${encoding}`);
  }
  if (/%(?![0-9a-f]{2})/i.test(authority)) {
    throw new Error(`has a % that two hexadecimal digits do not follow; ${encoding}`);
  }
}

/** Reads the sunset of GET /pets/{petId}. RFC 9745 section 4: not earlier than its deprecation. */
export function readPetsSunset(text: string): number {
  const time = parseInstant(text);
  if (time === undefined) throw new Error("must be a time such as 2027-12-31T00:00:00Z");
  if (time < petsDeprecatedAt) {
    const since = formatInstant(petsDeprecatedAt);
    throw new Error(`must not be before ${since}, when the operation was deprecated`);
  }
  return time;
}

/** Origins must be written as browsers send them. One with a path or a capital never matches. */
export function readOrigins(text: string): readonly string[] {
  const found = readList(text);
  const isWeb = (origin: string) => /^https?:/.test(origin) && URL.parse(origin)?.origin === origin;
  const isApp = (origin: string) => /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^/?#@\sA-Z]+$/.test(origin);
  if (!found.every((origin) => origin === "*" || isWeb(origin) || isApp(origin))) {
    throw new Error("must be origins such as https://shop.example, separated by commas, or *");
  }
  return found;
}

function readList(text: string): readonly string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean);
}

export function readNetworks(text: string): readonly Network[] {
  return readList(text).map((item) => {
    const network = parseNetwork(item);
    if (!network) {
      throw new Error("must be addresses or networks such as 10.0.0.0/8, separated by commas");
    }
    return network;
  });
}

export function readSwitch(text: string): boolean {
  const word = text.toLowerCase();
  if (["1", "true", "yes", "on"].includes(word)) return true;
  if (["0", "false", "no", "off"].includes(word)) return false;
  throw new Error("must be on or off");
}

export function readText(text: string): string {
  return text;
}

/** Reads one of some words. */
export function readWord<T extends string>(words: readonly T[]): (text: string) => T {
  const rule = words.length === 2 ? words.join(" or ") : `one of ${words.join(", ")}`;
  return (text) => {
    const found = words.find((word) => word === text);
    if (found === undefined) throw new Error(`must be ${rule}`);
    return found;
  };
}

export function readRatio(text: string): number {
  const ratio = /^[0-9]*\.?[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (!(ratio <= 1)) throw new Error("must be a number from 0 to 1");
  return ratio;
}

export function readUrl(text: string): string {
  const isWeb = /^https?:$/.test(URL.parse(text)?.protocol ?? "");
  if (!isWeb) throw new Error("must be an http or https URL");
  return text;
}

export function readDuration(text: string): number {
  const durationMs = parseDuration(text);
  if (!durationMs) throw new Error("must be a duration such as 30m, 24h or 7d");
  return durationMs;
}
