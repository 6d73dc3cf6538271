/**
 * Finds the parts of a JSON text without building the values. The text must be valid JSON: check it
 * with JSON.parse first. Reading large bodies this way is exact, because every number stays as it was
 * written, and the time depends only on the length. JSON.parse with a reviver, which is exact too,
 * calls a function for every value: a quarter of a megabyte of zeros takes 20 ms.
 */

const quote = 34;
const comma = 44;
const backslash = 92;
const closingBracket = 93;
const closingBrace = 125;

/** Calls `visit` with the position of every element of the array that starts at `at`. */
export function eachElement(text: string, at: number, visit: (start: number) => void): void {
  let start = skipSpace(text, at + 1);
  if (text[start] === "]") return;
  for (;;) {
    visit(start);
    const end = skipSpace(text, endOfValue(text, start));
    if (text.charCodeAt(end) !== comma) return;
    start = skipSpace(text, end + 1);
  }
}

/** Calls `visit` with the name and the value's position of every field of the object at `at`. */
export function eachField(
  text: string,
  at: number,
  visit: (name: string, start: number) => void,
): void {
  let name = skipSpace(text, at + 1);
  if (text[name] === "}") return;
  for (;;) {
    const nameEnd = endOfString(text, name);
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    visit(JSON.parse(text.slice(name, nameEnd)) as string, start);
    const end = skipSpace(text, endOfValue(text, start));
    if (text.charCodeAt(end) !== comma) return;
    name = skipSpace(text, end + 1);
  }
}

/** The position after the value that starts at `at`. */
export function endOfValue(text: string, at: number): number {
  let depth = 0;
  for (let next = at; ; ) {
    const first = text[next];
    if (first === '"') next = endOfString(text, next);
    else if (first === "{" || first === "[") {
      depth += 1;
      next += 1;
    } else if (first === "}" || first === "]") {
      depth -= 1;
      next += 1;
    } else if (depth === 0) return endOfScalar(text, next);
    else next += 1;
    if (depth === 0) return next;
  }
}

/** The position of the next character that is not white space. */
export function skipSpace(text: string, at: number): number {
  let next = at;
  while (text.charCodeAt(next) <= 32) next += 1;
  return next;
}

function endOfString(text: string, at: number): number {
  for (let next = at + 1; ; next += 1) {
    const code = text.charCodeAt(next);
    if (code === quote) return next + 1;
    if (code === backslash) next += 1;
  }
}

/** A number, true, false or null ends before a comma, a bracket, white space or the end. */
function endOfScalar(text: string, at: number): number {
  for (let next = at; ; next += 1) {
    const code = text.charCodeAt(next);
    const isPart = code > 32 && code !== comma && code !== closingBracket && code !== closingBrace;
    if (!isPart) return next;
  }
}
