import { Refusal } from "../domain/errors.ts";

export interface CsvRow {
  /** The line the row starts on; a quoted cell may run over several. */
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Comma-separated values as RFC 4180 has them: quoted cells may hold commas, line ends and doubled
 * quotes; lines end in LF or CRLF; blank lines are passed over.
 */
export async function* readCsv(text: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  let rest = "";
  let line = 1;
  let started = false;
  for await (const piece of text) {
    rest += started ? piece : piece.replace(/^\uFEFF/, "");
    started ||= piece !== "";
    let from = 0;
    for (;;) {
      const end = rowEnd(rest, from);
      if (end < 0) break;
      const source = rest.slice(from, end);
      if (source.trim() !== "") yield { line, cells: splitRow(source, line) };
      line += countLines(source) + 1;
      from = end + 1;
    }
    rest = rest.slice(from);
  }
  if (rest.trim() !== "") yield { line, cells: splitRow(rest, line) };
}

/** The index of the line feed that ends the row, which is none inside quotes; -1 if not there yet. */
function rowEnd(text: string, from: number): number {
  let end = text.indexOf("\n", from);
  let quote = text.indexOf('"', from);
  while (end >= 0 && quote >= 0 && quote < end) {
    const close = text.indexOf('"', quote + 1);
    if (close < 0) return -1;
    if (close > end) end = text.indexOf("\n", close);
    quote = text.indexOf('"', close + 1);
  }
  return end;
}

const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;

function splitRow(source: string, line: number): string[] {
  const row = source.endsWith("\r") ? source.slice(0, -1) : source;
  const cells: string[] = [];
  cell.lastIndex = 0;
  for (;;) {
    const match = cell.exec(row);
    if (!match) {
      throw new Refusal("invalid_request", `line ${line}: a quote stands where none can`);
    }
    cells.push(match[1] === undefined ? match[2]! : match[1].replaceAll('""', '"'));
    if (match[3] === "") return cells;
  }
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** One cell as it has to be written. */
export function csvCell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
