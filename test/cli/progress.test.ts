import { expect, test } from "bun:test";
import { clearProgress, createProgress } from "../../src/cli/progress.ts";

// Whatever terminal runs the tests.
process.env.TERM = "xterm";
const remove = "\r\x1b[K";

function createTerminal(isTTY = true, columns = 80) {
  const written: string[] = [];
  const write = (text: string) => written.push(text) > 0;
  return { written, terminal: { isTTY, columns, write } as never };
}

test("work over a second shows percentage, count and rate, and its end removes the line", () => {
  const { written, terminal } = createTerminal();
  let nowMs = 0;
  const now = () => nowMs;
  const progress = createProgress("Importing a\x1b.csv", 2_000_000, { terminal, now });
  progress.advance(100_000);
  nowMs = 999;
  progress.advance(100_000);
  expect(written).toEqual([]);
  nowMs = 2_000;
  progress.advance(300_000);
  nowMs = 2_100;
  progress.advance(100_000);
  expect(written).toEqual([`${remove}Importing a\\u001b.csv: 25 %, 500,000 rows, 200,000 rows/s`]);
  progress[Symbol.dispose]();
  progress[Symbol.dispose]();
  expect(written.slice(1)).toEqual([remove]);
});

test("a total that was too small never shows 100 %, and bytes have a unit of their own", () => {
  const { written, terminal } = createTerminal();
  let nowMs = 0;
  const options = { unit: "bytes", terminal, now: () => nowMs } as const;
  const progress = createProgress("Writing", 10, options);
  progress.advance(5_000_000);
  nowMs = 10_000;
  progress.advance(20_000_000);
  expect(written).toEqual([`${remove}Writing: 99 %, 25 MB, 2 MB/s`]);
  // A message that interrupts the work removes the line too.
  clearProgress();
  expect(written.slice(1)).toEqual([remove]);
  progress[Symbol.dispose]();
  expect(written).toHaveLength(2);
});

test("the line never wraps, and there is none where standard error is not a terminal", () => {
  const narrow = createTerminal(true, 12);
  const piped = createTerminal(false);
  for (const { terminal } of [narrow, piped]) {
    let nowMs = 0;
    const progress = createProgress("Checking", undefined, { terminal, now: () => nowMs });
    nowMs = 5_000;
    progress.advance(5);
    progress[Symbol.dispose]();
  }
  expect(narrow.written).toEqual([`${remove}Checking: 5`, remove]);
  expect(piped.written).toEqual([]);
});
