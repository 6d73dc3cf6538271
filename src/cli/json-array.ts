import { Refusal } from "../domain/errors.ts";
import { boundRecord, type Source, type Splitter } from "./lines.ts";

const [quote, backslash, comma, lineFeed] = ['"', "\\", ",", "\n"].map(codeOf);
const [openBracket, closeBracket, openBrace, closeBrace] = ["[", "]", "{", "}"].map(codeOf);
const spaces = new Set([" ", "\t", "\n", "\r"].map(codeOf));

/**
 * Cuts one JSON array into the texts of its elements, so that a file of any length passes through
 * without ever being whole in memory. It only follows strings and brackets; whether an element is
 * valid JSON is for its reader to say.
 */
export function createElementSplitter(): Splitter {
  let line = 1;
  /** Brackets open: 0 outside the array, 1 directly in it. */
  let depth = 0;
  let inString = false;
  let escaped = false;
  let ended = false;
  let held = "";
  /** The line the element under way started on; 0 while there is only space. */
  let startLine = 0;
  /** Whether a comma demands an element, so that one which is missing is not passed over. */
  let isOwed = false;

  function takeString(code: number): void {
    if (escaped) escaped = false;
    else if (code === backslash) escaped = true;
    else if (code === quote) inString = false;
  }

  /** Takes a character outside strings; true if it ends an element. */
  function takeMark(code: number): boolean {
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

  function endElement(code: number, text: string, found: Source[]): void {
    if (startLine > 0 || code === comma || isOwed) found.push({ line: startLine || line, text });
    held = "";
    startLine = 0;
    isOwed = code === comma;
    if (isOwed) return;
    depth = 0;
    ended = true;
  }

  return {
    take(piece) {
      const found: Source[] = [];
      let from = 0;
      for (let at = 0; at < piece.length; at++) {
        const code = piece.charCodeAt(at);
        if (code === lineFeed) line += 1;
        if (inString) takeString(code);
        else if (!spaces.has(code)) {
          const wasOutside = depth === 0;
          const ends = takeMark(code);
          if (ends) endElement(code, held + piece.slice(from, at), found);
          if (ends || wasOutside) from = at + 1;
        }
      }
      held = depth === 0 ? "" : boundRecord(startLine || line, held + piece.slice(from));
      return found;
    },
    end() {
      if (ended) return [];
      if (depth === 0) throw notAnArray(line);
      throw new Refusal(
        "invalid_request",
        `line ${line}: the file ends before its JSON array does`,
      );
    },
  };
}

function codeOf(character: string): number {
  return character.charCodeAt(0);
}

function notAnArray(line: number): Refusal {
  return new Refusal("invalid_request", `line ${line}: the file must be one JSON array of objects`);
}
