/**
 * Reads the part of TOML that a settings file needs: keys with texts, numbers, times, booleans and
 * arrays. Tables are rejected. The parser of the runtime cannot name the line of an error.
 */

export type TomlValue =
  | { readonly type: "text" | "number" | "boolean"; readonly text: string }
  | { readonly type: "array"; readonly items: readonly TomlValue[] };

export interface TomlEntry {
  readonly key: string;
  /** Numbered from 1. */
  readonly line: number;
  readonly value: TomlValue;
}

/** An error in the text, with its line. */
export class TomlError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

const bareKey = /[A-Za-z0-9_-]+/y;
const basicString = /"(?:[^"\\\p{Cc}]|\t|\\.)*"/uy;
const literalString = /'(?:[^'\p{Cc}]|\t)*'/uy;
/** A number, a time or a word, up to what can end it. */
const word = /[^\s,#[\]{}"'=]+/y;
const spaces = /[ \t]*/y;
/** Spaces, line ends and comments. */
const blank = /(?:[ \t\r\n]|#[^\n]*)*/y;
const restOfLine = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;

const time =
  /^\d{4}-\d{2}-\d{2}(?:[Tt]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})?)?$/;
const decimal = /^[+-]?(?:0|[1-9](?:_?\d)*)$/;
const based = /^0(?:x[\da-f](?:_?[\da-f])*|o[0-7](?:_?[0-7])*|b[01](?:_?[01])*)$/i;
const float = /^[+-]?(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*)?(?:e[+-]?\d(?:_?\d)*)?$/i;

const escapes: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  '"': '"',
  "\\": "\\",
};

/** Returns the entries in the order of the text. Throws a TomlError. */
export function parseToml(text: string): readonly TomlEntry[] {
  const entries = new Map<string, TomlEntry>();
  let at = text.startsWith("\ufeff") ? 1 : 0;

  const lineAt = (position: number) => text.slice(0, position).split("\n").length;
  const fail = (message: string): never => {
    throw new TomlError(lineAt(at), message);
  };

  function take(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at = pattern.lastIndex;
    return found;
  }

  function takeString(): string | undefined {
    if (text.startsWith('"""', at) || text.startsWith("'''", at)) {
      fail("texts of several lines are not supported");
    }
    const quote = text[at];
    if (quote !== '"' && quote !== "'") return undefined;
    const found = take(quote === '"' ? basicString : literalString);
    if (found === undefined) return fail("a text has no closing quote on its line");
    const inner = found.slice(1, -1);
    return quote === "'" ? inner : inner.replace(/\\(u.{0,4}|U.{0,8}|.)/gsu, unescaped);
  }

  function unescaped(all: string, code: string): string {
    const digits = /^(?:u[\da-f]{4}|U[\da-f]{8})$/i.test(code) ? code.slice(1) : undefined;
    const point = Number.parseInt(digits ?? "d800", 16);
    const isScalar = point < 0xd800 || (point > 0xdfff && point <= 0x10ffff);
    if (digits !== undefined && isScalar) return String.fromCodePoint(point);
    return escapes[code] ?? fail(`unknown escape ${all}; write \\\\ for a backslash`);
  }

  function takeArray(): TomlValue {
    at += 1;
    const items: TomlValue[] = [];
    for (;;) {
      take(blank);
      if (text[at] === "]") break;
      items.push(takeValue());
      take(blank);
      if (text[at] === ",") at += 1;
      else if (text[at] !== "]") fail("expected a comma or ] in an array");
    }
    at += 1;
    return { type: "array", items };
  }

  function takeValue(): TomlValue {
    if (text[at] === "[") return takeArray();
    if (text[at] === "{") fail("tables are not supported");
    const quoted = takeString();
    if (quoted !== undefined) return { type: "text", text: quoted };
    const found = take(word);
    if (found === undefined) return fail("expected a value after =");
    if (found === "true" || found === "false") return { type: "boolean", text: found };
    if (time.test(found)) return { type: "text", text: found };
    const digits = found.replaceAll("_", "").replace(/^\+/, "");
    if (decimal.test(found)) return { type: "number", text: digits };
    if (based.test(found) || float.test(found)) {
      return { type: "number", text: String(Number(digits)) };
    }
    return fail(`'${found}' is not a value; put texts in quotes`);
  }

  for (take(blank); at < text.length; take(blank)) {
    const line = lineAt(at);
    if (text[at] === "[") fail("sections are not supported; write all keys without them");
    const key = takeString() ?? take(bareKey) ?? fail("expected a key such as port = 8080");
    take(spaces);
    if (text[at] === ".") fail("keys with dots are not supported");
    if (text[at] !== "=") fail(`expected = after '${key}'`);
    at += 1;
    take(spaces);
    const value = takeValue();
    if (take(restOfLine) === undefined) fail("expected the end of the line after the value");
    const earlier = entries.get(key);
    if (earlier) throw new TomlError(line, `'${key}' is already set in line ${earlier.line}`);
    entries.set(key, { key, line, value });
  }
  return [...entries.values()];
}
