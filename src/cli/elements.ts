import { Refusal } from "../domain/errors.ts";

export interface Element {
  readonly line: number;
  readonly source: string;
}

/** The source texts of JSON values: one a line, or the elements of one array over any lines. */
export function readJsonElements(
  text: AsyncIterable<string>,
  shape: "lines" | "array",
): AsyncGenerator<Element> {
  return shape === "lines" ? readLines(text) : readArray(text);
}

async function* readLines(text: AsyncIterable<string>): AsyncGenerator<Element> {
  let rest = "";
  let line = 1;
  for await (const piece of text) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop()!;
    for (const source of lines) {
      if (source.trim() !== "") yield { line, source };
      line++;
    }
  }
  if (rest.trim() !== "") yield { line, source: rest };
}

/** What can change the depth, a string or the line; everything between is skipped at once. */
const marks = /["\\[\]{},\n]/g;

/**
 * Cuts the array into its elements by counting brackets outside strings, so that a file of any
 * length passes through without ever being whole in memory. Each element is parsed by its reader.
 */
async function* readArray(text: AsyncIterable<string>): AsyncGenerator<Element> {
  let rest = "";
  let scanned = 0;
  let line = 1;
  let elementLine = 0;
  let depth = 0;
  let inString = false;
  let ended = false;
  for await (const piece of text) {
    rest += piece;
    let from = 0;
    let at = scanned;
    for (;;) {
      if (elementLine === 0 && depth === 1) {
        const start = rest.slice(at).search(/\S/);
        if (start < 0) break;
        line += rest.slice(at, at + start).split("\n").length - 1;
        at += start;
        from = at;
        elementLine = line;
      }
      marks.lastIndex = at;
      const match = marks.exec(rest);
      if (!match) {
        at = rest.length;
        break;
      }
      const mark = match[0];
      if (mark === "\\" && match.index + 1 >= rest.length) {
        at = match.index;
        break;
      }
      at = match.index + (mark === "\\" ? 2 : 1);
      if (mark === "\n") line++;
      else if (mark === '"') inString = !inString;
      else if (!inString) {
        if (depth === 0 && (ended || mark !== "[" || rest.slice(0, match.index).trim() !== "")) {
          throw notAnArray(line);
        }
        if (depth === 1 && (mark === "," || mark === "]")) {
          const source = rest.slice(from, match.index);
          // An empty array has no element, not an empty one.
          if (source.trim() !== "" || mark === "," || elementLine === 0) {
            yield { line: elementLine, source };
          }
          from = at;
          elementLine = 0;
        }
        if (mark === "[" || mark === "{") depth++;
        else if (mark === "]" || mark === "}") {
          depth--;
          if (depth === 0) {
            ended = true;
            from = at;
          }
        }
      }
    }
    const keep = depth === 0 ? (ended ? at : 0) : elementLine === 0 ? at : from;
    rest = rest.slice(keep);
    scanned = at - keep;
  }
  if (!ended || rest.trim() !== "") throw notAnArray(line);
}

function notAnArray(line: number): Refusal {
  return new Refusal("invalid_request", `line ${line}: the file must be one JSON array of objects`);
}
