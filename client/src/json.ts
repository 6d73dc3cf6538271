// An exact JSON reader. Identifiers span the whole signed 64-bit range and `JSON.parse` rounds
// integers past 2^53; its `context.source` would help, but Node 20 does not have it.

export type Json =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** No answer of the service nests deeper than a few levels; this bound spares the call stack. */
const depthMax = 64;

/** Any integer of at most this many digits is exact as a number. */
const exactDigitsMax = 15;

const longDigits = /\d{16}/;
const numberToken = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const safeMin = BigInt(Number.MIN_SAFE_INTEGER);
const safeMax = BigInt(Number.MAX_SAFE_INTEGER);
const quote = 0x22;
const backslash = 0x5c;

/**
 * Reads a JSON text as `JSON.parse` does, with one difference: an integer literal that a number
 * cannot hold exactly becomes a `bigint`. Throws a SyntaxError on anything that is not JSON.
 */
export function parseExact(text: string): Json {
  // Without a run of sixteen digits no integer is past 2^53, and the built-in reader is exact.
  return longDigits.test(text) ? readExact(text) : JSON.parse(text);
}

function readExact(text: string): Json {
  let at = 0;
  const keys: string[] = [];

  const fail = (): never => {
    const found = at < text.length ? `${JSON.stringify(text[at])} at ${at}` : "the end of the text";
    throw new SyntaxError(`Not JSON: unexpected ${found}`);
  };

  const skipSpace = (): number => {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
      at++;
    }
  };

  const readWord = <T>(word: string, value: T): T => {
    if (!text.startsWith(word, at)) fail();
    at += word.length;
    return value;
  };

  const readString = (): string => {
    const start = at++;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === quote) return text.slice(start + 1, at++);
      if (code === backslash) return readEscapedString(start);
      if (!(code >= 0x20)) fail(); // A control character, or NaN past the end.
      at++;
    }
  };

  // Escapes are rare, so finding the closing quote is ours and their meaning is left to JSON.parse.
  const readEscapedString = (start: number): string => {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === quote) return JSON.parse(text.slice(start, ++at));
      if (!(code >= 0x20)) fail();
      at += code === backslash ? 2 : 1;
    }
  };

  // Lists repeat the same few keys in the same order: comparing in place with the key last seen in
  // that position saves a new string, and its hash, for every field.
  const readKey = (index: number): string => {
    const expected = keys[index];
    if (
      expected !== undefined &&
      text.startsWith(expected, at + 1) &&
      text.charCodeAt(at + 1 + expected.length) === quote
    ) {
      at += expected.length + 2;
      return expected;
    }
    const start = at;
    const key = readString();
    // Only a key written without escapes may be compared with the raw text.
    if (at - start === key.length + 2) keys[index] = key;
    return key;
  };

  const readNumber = (): number | bigint => {
    const start = at;
    const negative = text.charCodeAt(at) === 0x2d;
    if (negative) at++;
    const first = at;
    let value = 0;
    let code = text.charCodeAt(at);
    while (code >= 0x30 && code <= 0x39) {
      value = value * 10 + (code - 0x30);
      code = text.charCodeAt(++at);
    }
    const digits = at - first;
    if (digits === 0 || (digits > 1 && text.charCodeAt(first) === 0x30)) fail();
    if (code === 0x2e || code === 0x65 || code === 0x45) return readFraction(start);
    if (digits <= exactDigitsMax) return negative ? -value : value;
    const exact = BigInt(text.slice(start, at));
    return exact >= safeMin && exact <= safeMax ? Number(exact) : exact;
  };

  const readFraction = (start: number): number => {
    numberToken.lastIndex = start;
    const token = numberToken.exec(text)?.[0] ?? "";
    at = start + token.length;
    return Number(token);
  };

  const readArray = (depth: number): Json[] => {
    const items: Json[] = [];
    at++;
    if (skipSpace() === 0x5d) {
      at++;
      return items;
    }
    for (;;) {
      items.push(readValue(depth));
      const code = skipSpace();
      if (code !== 0x2c && code !== 0x5d) fail();
      at++;
      if (code === 0x5d) return items;
    }
  };

  const readObject = (depth: number): { [key: string]: Json } => {
    const object: { [key: string]: Json } = {};
    let index = 0;
    at++;
    if (skipSpace() === 0x7d) {
      at++;
      return object;
    }
    for (;;) {
      if (skipSpace() !== quote) fail();
      const key = readKey(index++);
      if (skipSpace() !== 0x3a) fail();
      at++;
      const value = readValue(depth);
      if (key === "__proto__") defineOwn(object, key, value);
      else object[key] = value;
      const code = skipSpace();
      if (code !== 0x2c && code !== 0x7d) fail();
      at++;
      if (code === 0x7d) return object;
    }
  };

  const readValue = (depth: number): Json => {
    if (depth > depthMax) throw new SyntaxError(`JSON nested deeper than ${depthMax} levels`);
    switch (skipSpace()) {
      case 0x7b:
        return readObject(depth + 1);
      case 0x5b:
        return readArray(depth + 1);
      case quote:
        return readString();
      case 0x74:
        return readWord("true", true);
      case 0x66:
        return readWord("false", false);
      case 0x6e:
        return readWord("null", null);
      default:
        return readNumber();
    }
  };

  const value = readValue(0);
  skipSpace();
  if (at < text.length) fail();
  return value;
}

// Plain assignment to `__proto__` would set the prototype instead of making a field.
function defineOwn(object: object, key: string, value: Json): void {
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}
