import { ServiceError } from "../domain/running/errors.ts";
import type { ImportFormat } from "./formats.ts";

/** Takes the text of one record of an import file, and the line on which it starts. */
export type TakeText = (line: number, text: string) => void;

/** Splits a text that arrives in pieces of any length into records, and passes them on. */
export interface Splitter {
  take(piece: string): void;
  /** Call after the last piece. */
  end(): void;
}

/** A text that cannot be split into records from this line on. */
export class BrokenText extends ServiceError {
  readonly line: number;
  readonly rule: string;
  /** The format that the text seems to have, if it is not the one that was given. */
  readonly format: ImportFormat | undefined;

  constructor(line: number, rule: string, format?: ImportFormat) {
    super("invalid_request", `line ${line}: ${rule}`);
    this.line = line;
    this.rule = rule;
    this.format = format;
  }
}

/** More characters than any valid record has. */
export const recordCharactersMax = 2_000_000;

/** Every column of a table is listed. */
export const columnsMax = 1_000;
export const tooManyColumns = `has more than ${columnsMax} columns`;

/** Throws if a record is too long. Without a bound, an unclosed quote would load the whole file. */
export function boundRecord(line: number, text: string): string {
  if (text.length <= recordCharactersMax) return text;
  const problem = `the row has more than ${recordCharactersMax} characters`;
  throw new BrokenText(line, `${problem}; is a quote or bracket unclosed?`);
}

/**
 * Splits a text into lines and skips blank ones. With `quotes`, a line feed between two quotes does
 * not end a line. A doubled quote counts as two, so counting quotes is enough.
 */
export function createLineSplitter(found: TakeText, { quotes }: { quotes: boolean }): Splitter {
  /** The text of the current record in earlier pieces. */
  let pending = "";
  let line = 1;
  /** The line on which the current record starts. */
  let startLine = 1;
  let isQuoted = false;

  return {
    take(piece) {
      let from = 0;
      let quote = quotes ? piece.indexOf('"') : -1;
      const passQuotes = (end: number) => {
        for (; quote >= 0 && quote < end; quote = piece.indexOf('"', quote + 1)) {
          isQuoted = !isQuoted;
        }
      };
      for (let feed = piece.indexOf("\n"); feed >= 0; feed = piece.indexOf("\n", feed + 1)) {
        passQuotes(feed);
        line += 1;
        if (isQuoted) continue;
        const text = pending + piece.slice(from, feed);
        if (text.trim() !== "") found(startLine, text);
        pending = "";
        startLine = line;
        from = feed + 1;
      }
      passQuotes(piece.length);
      pending = boundRecord(startLine, pending + piece.slice(from));
    },
    end() {
      if (pending.trim() !== "") found(startLine, pending);
    },
  };
}
