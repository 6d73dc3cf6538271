import { Refusal } from "../domain/errors.ts";

/** A piece of an import file that holds one record, and the line it starts on. */
export interface Source {
  readonly line: number;
  readonly text: string;
}

/** Cuts a text that arrives in pieces of any length into its records. */
export interface Splitter {
  /** The records that this piece completes. */
  take(piece: string): readonly Source[];
  /** What the end of the text completes. */
  end(): readonly Source[];
}

/** Longer than any record that the rules let pass; what goes beyond it is no record. */
const recordCharactersMax = 2_000_000;

/** Keeps a quote that is never closed from drawing the whole file into memory. */
export function boundRecord(line: number, text: string): string {
  if (text.length <= recordCharactersMax) return text;
  const rule = `this row has more than ${recordCharactersMax} characters`;
  throw new Refusal("invalid_request", `line ${line}: ${rule}; is a quote or bracket left open?`);
}

/**
 * One record a line, blank lines passed over. With `quotes` a line feed between two quotes ends
 * nothing: a doubled quote opens and closes at once, so counting them is enough.
 */
export function createLineSplitter({ quotes }: { quotes: boolean }): Splitter {
  const marks = quotes ? /["\n]/g : /\n/g;
  let held = "";
  let line = 1;
  /** The line the record under way started on. */
  let startLine = 1;
  let quoted = false;

  return {
    take(piece) {
      const found: Source[] = [];
      let from = 0;
      marks.lastIndex = 0;
      for (let match = marks.exec(piece); match; match = marks.exec(piece)) {
        if (match[0] === '"') {
          quoted = !quoted;
          continue;
        }
        line += 1;
        if (quoted) continue;
        const text = held + piece.slice(from, match.index);
        if (text.trim() !== "") found.push({ line: startLine, text });
        held = "";
        startLine = line;
        from = match.index + 1;
      }
      held = boundRecord(startLine, held + piece.slice(from));
      return found;
    },
    end: () => (held.trim() === "" ? [] : [{ line: startLine, text: held }]),
  };
}
