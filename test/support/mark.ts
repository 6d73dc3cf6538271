import { readFileSync } from "node:fs";
import { until } from "./until.ts";

/** The row that the mark of a store names. */
export function markOf(path: string): number | undefined {
  const found = /"seq":(\d+)/.exec(readFileSync(`${path}-changes`, "latin1"))?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Waits until the mark names this row. Its service writes it within a second. */
export async function untilMarked(path: string, seq: number): Promise<void> {
  await until(() => markOf(path) === seq, 1_000, `the mark of row ${seq}`);
}
