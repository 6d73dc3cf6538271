import { integerAsWritten } from "./int64.ts";

/** A number in a JSON text as it was written, so that no digit is lost before it is checked. */
export class JsonNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** JSON.stringify writes it as it was. */
  toJSON(): unknown {
    return exactInteger(this.source);
  }

  toInteger(): bigint | "fraction" | "huge" {
    return integerAsWritten(this.source);
  }
}

/**
 * JSON.parse with every number as a JsonNumber. Throws a SyntaxError for invalid JSON and for JSON
 * that is nested too deeply for the stack.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value, { source }) =>
      typeof value === "number" ? new JsonNumber(source ?? String(value)) : value,
    );
  } catch (error) {
    if (error instanceof RangeError) throw new SyntaxError("it is nested too deeply");
    throw error;
  }
}

/** The value of a JSON text. Undefined if the text is not JSON. Long integers lose digits. */
export function valueOfJson<T>(text: unknown): T | undefined {
  try {
    return JSON.parse(text as string);
  } catch {
    return undefined;
  }
}

/** The values in an object or a list of an imported file. Each takes 100 bytes, but only one in the text. */
export const valuesMax = 10_000;

/** Returns true if a JSON text has more values than that, also within each other. */
export function hasTooManyValues(text: string): boolean {
  let [values, inString] = [1, false];
  for (let at = 0; at < text.length && text.length > valuesMax; at++) {
    const code = text[at]!;
    if (code === '"') inString = !inString;
    else if (inString && code === "\\") at += 1;
    else if (!inString && ",[{".includes(code)) values += 1;
  }
  return values > valuesMax;
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber)
  );
}

/** Written by JSON.stringify with all digits. A JavaScript number would round some of them. */
export function exactInteger(value: bigint | string): unknown {
  return JSON.rawJSON(String(value));
}

/** JSON in which a bigint is a number with all its digits. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === "bigint" ? exactInteger(one) : one));
}

/** The fields with these names, in this order. */
export function inOrder<T, K extends keyof T>(fields: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<T, K>;
}

/**
 * Finds the parts of a JSON text without building the values. The text must be valid JSON: check it
 * with JSON.parse first. Reading large bodies this way is exact, because every number stays as it was
 * written, and the time depends only on the length. JSON.parse with a reviver, which is exact too,
 * calls a function for every value: a quarter of a megabyte of zeros takes 20 ms.
 */

const quote = 34;
const comma = 44;
const colon = 58;
const openingBracket = 91;
const backslash = 92;
const closingBracket = 93;
const openingBrace = 123;
const closingBrace = 125;

/** Characters that begin or end a string, an object or an array. */
const structural = /["[\]{}]/g;

/** The positions of the elements of the array that starts at `at`: the first `max`. */
export function elementsAt(text: string, at: number, max: number): readonly number[] {
  const starts: number[] = [];
  let next = skipSpace(text, at + 1);
  if (text.charCodeAt(next) === closingBracket) return starts;
  while (starts.push(next) < max) {
    const end = skipSpace(text, endOfValue(text, next));
    if (text.charCodeAt(end) !== comma) break;
    next = skipSpace(text, end + 1);
  }
  return starts;
}

/** Calls `visit` with the name and the value's position of every field of the object at `at`. */
export function eachField(
  text: string,
  at: number,
  visit: (name: string, start: number) => void,
): void {
  let name = skipSpace(text, at + 1);
  if (text.charCodeAt(name) === closingBrace) return;
  for (;;) {
    const nameEnd = endOfString(text, name);
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    visit(readString(text, name, nameEnd), start);
    const end = skipSpace(text, endOfValue(text, start));
    if (text.charCodeAt(end) !== comma) return;
    name = skipSpace(text, end + 1);
  }
}

/** The first name that an object has twice, at any depth. JSON.parse would take the last value. */
export function findRepeatedField(text: string): string | undefined {
  const objects: Set<string>[] = [];
  structural.lastIndex = 0;
  while (structural.test(text)) {
    const at = structural.lastIndex - 1;
    const code = text.charCodeAt(at);
    if (code === openingBrace) objects.push(new Set());
    else if (code === closingBrace) objects.pop();
    if (code !== quote) continue;
    const end = endOfString(text, at);
    structural.lastIndex = end;
    if (text.charCodeAt(skipSpace(text, end)) !== colon) continue;
    const [names, name] = [objects.at(-1)!, readString(text, at, end)];
    if (names.size === names.add(name).size) return name;
  }
  return undefined;
}

/** The string between two positions, quotes included. */
export function readString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes("\\") ? (JSON.parse(text.slice(start, end)) as string) : inner;
}

/** The position after the value that starts at `at`. */
export function endOfValue(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === quote) return endOfString(text, at);
  if (first !== openingBrace && first !== openingBracket) return endOfScalar(text, at);
  let depth = 1;
  structural.lastIndex = at + 1;
  while (depth > 0 && structural.test(text)) {
    const code = text.charCodeAt(structural.lastIndex - 1);
    if (code === quote) structural.lastIndex = endOfString(text, structural.lastIndex - 1);
    else depth += code === openingBrace || code === openingBracket ? 1 : -1;
  }
  return structural.lastIndex;
}

/** The position of the next character that is not white space. */
export function skipSpace(text: string, at: number): number {
  let next = at;
  while (text.charCodeAt(next) <= 32) next += 1;
  return next;
}

function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

/** A quote after an odd number of backslashes is part of its string. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first -= 1;
  return (at - first) % 2 === 1;
}

/** A number, true, false or null ends before a comma, a bracket, white space or the end. */
function endOfScalar(text: string, at: number): number {
  for (let next = at; ; next += 1) {
    const code = text.charCodeAt(next);
    const isPart = code > 32 && code !== comma && code !== closingBracket && code !== closingBrace;
    if (!isPart) return next;
  }
}
