import { formatBytes } from "../domain/values/sizes.ts";
import type { RowsOf, Snapshot } from "../domain/verification/store.ts";
import { beforePrinting, isCapable, printable, withoutSecrets } from "../output.ts";

/** How far a long piece of work is. Disposing of it removes the line. */
export interface Progress extends Disposable {
  advance(count: number): void;
}

interface ProgressOptions {
  /** What `advance` and `total` count. */
  readonly unit?: "rows" | "bytes";
  readonly terminal?: Pick<NodeJS.WriteStream, "isTTY" | "columns" | "write">;
  readonly now?: () => number;
}

/** Work that ends sooner shows no progress. */
const quietMs = 1_000;
const refreshMs = 200;

/** The progress whose line is on the terminal. */
let shown: Progress | undefined;

/** Removes the line of unfinished work. */
export function clearProgress(): void {
  shown?.[Symbol.dispose]();
}

// A message must not continue the line.
beforePrinting(clearProgress);

/**
 * Shows the progress of work that takes longer than a second: the percentage if the total is known,
 * the count and the rate. It is one line on standard error. Shows nothing where
 * standard error is not a terminal, or one that cannot remove a line.
 */
export function createProgress(
  label: string,
  total?: number,
  { unit = "rows", terminal = process.stderr, now = () => performance.now() }: ProgressOptions = {},
): Progress {
  if (!isCapable(terminal)) return { advance() {}, [Symbol.dispose]() {} };
  let nextMs = now() + quietMs;
  let count = 0;
  /** The rate is measured from the first rows on: other work may come before them. */
  let first: { readonly count: number; readonly ms: number } | undefined;
  const progress: Progress = {
    advance(more) {
      count += more;
      const nowMs = now();
      first ??= { count, ms: nowMs };
      if (nowMs < nextMs) return;
      nextMs = nowMs + refreshMs;
      shown = progress;
      const rate = (1_000 * (count - first.count)) / (nowMs - first.ms);
      const line = lineOf(printable(withoutSecrets(label)), count, total, unit, rate);
      terminal.write(`\r\x1b[K${line.slice(0, (terminal.columns || 80) - 1)}`);
    },
    [Symbol.dispose]() {
      if (shown !== progress) return;
      shown = undefined;
      terminal.write("\r\x1b[K");
    },
  };
  return progress;
}

/** Returns the same rows, and advances the progress as those of all tables, or of one, are read. */
export function countingRows(rowsOf: RowsOf, progress: Progress, counted?: string): RowsOf {
  return async function* (table) {
    for await (const batch of rowsOf(table)) {
      yield batch;
      if (table === (counted ?? table)) progress.advance(batch.length);
    }
  };
}

function lineOf(
  label: string,
  count: number,
  total: number | undefined,
  unit: "rows" | "bytes",
  rate: number,
): string {
  const amount = (number: number) =>
    unit === "bytes" ? formatBytes(number) : `${Math.round(number).toLocaleString("en")} rows`;
  // The total may be an estimate, so the work may be longer.
  const share = total ? ` ${Math.min(99, Math.floor((100 * count) / total))} %,` : "";
  const speed = rate > 0 ? `, ${amount(rate)}/s` : "";
  return `${label}:${share} ${amount(count)}${speed}`;
}

/**
 * Shows how much of the ledger was read. It is the longest table and the only one whose length is
 * known in advance.
 */
export async function withLedgerProgress<T>(
  label: string,
  { rowsOf, readTip }: Pick<Snapshot, "rowsOf" | "readTip">,
  work: (rowsOf: RowsOf) => Promise<T>,
): Promise<T> {
  using progress = createProgress(label, await lengthOf(readTip));
  return await work(countingRows(rowsOf, progress, "ledger"));
}

/** The length of a damaged ledger may be unknown. The work reports why. */
async function lengthOf(readTip: Snapshot["readTip"]): Promise<number | undefined> {
  try {
    return (await readTip()).seq;
  } catch {
    return undefined;
  }
}
