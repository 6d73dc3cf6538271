import { BrokenText, boundRecord, type Splitter, type TakeText } from "./lines.ts";

const [quote, backslash, comma, lineFeed] = ['"', "\\", ",", "\n"].map(codeOf);
const [openBracket, closeBracket, openBrace, closeBrace] = ["[", "]", "{", "}"].map(codeOf);
const spaces = new Set([" ", "\t", "\n", "\r"].map(codeOf));

/**
 * Splits one JSON array into the texts of its elements, so that a file of any length needs little
 * memory. It only tracks strings and brackets. The caller checks that an element is valid JSON.
 */
export function createJsonArraySplitter(found: TakeText): Splitter {
  let line = 1;
  /** The number of open brackets: 0 outside the array, 1 between its elements. */
  let depth = 0;
  let inString = false;
  let escaped = false;
  let ended = false;
  /** The text of the current element in earlier pieces. */
  let pending = "";
  /** The line on which the current element starts; 0 if there is only white space so far. */
  let startLine = 0;
  /** True after a comma, so that a missing element is not skipped. */
  let isElementExpected = false;

  function takeString(code: number): void {
    if (escaped) escaped = false;
    else if (code === backslash) escaped = true;
    else if (code === quote) inString = false;
  }

  /** Takes a character outside strings. Returns true if it ends an element. */
  function takeSymbol(code: number): boolean {
    const closes = code === closeBracket || code === closeBrace;
    if (depth === 0) {
      if (ended || code !== openBracket) throw notAnArray(line);
      depth = 1;
    } else if (depth === 1 && (code === comma || closes)) {
      if (code === closeBrace) throw notAnArray(line);
      return true;
    } else {
      startLine ||= line;
      if (code === quote) inString = true;
      else if (closes) depth -= 1;
      else if (code === openBracket || code === openBrace) depth += 1;
    }
    return false;
  }

  function endElement(code: number, text: string): void {
    if (startLine > 0 || code === comma || isElementExpected) found(startLine || line, text);
    pending = "";
    startLine = 0;
    isElementExpected = code === comma;
    if (isElementExpected) return;
    depth = 0;
    ended = true;
  }

  return {
    take(piece) {
      let from = 0;
      for (let at = 0; at < piece.length; at++) {
        const code = piece.charCodeAt(at);
        if (code === lineFeed) line += 1;
        if (inString) takeString(code);
        else if (!spaces.has(code)) {
          const wasOutside = depth === 0;
          const ends = takeSymbol(code);
          if (ends) endElement(code, pending + piece.slice(from, at));
          if (ends || wasOutside) from = at + 1;
        }
      }
      pending = depth === 0 ? "" : boundRecord(startLine || line, pending + piece.slice(from));
    },
    end() {
      if (depth > 0) throw new BrokenText(line, "the file ends inside the JSON array");
      if (!ended) throw notAnArray(line);
    },
  };
}

function codeOf(character: string): number {
  return character.charCodeAt(0);
}

function notAnArray(line: number): BrokenText {
  return new BrokenText(line, "expected one JSON array of objects");
}
