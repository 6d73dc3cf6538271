// The context that every section receives, and the comparison of contestants.

import { best } from "./best.ts";
import type { Generator, Measured } from "./generator.ts";
import type { Options } from "./options.ts";
import type { Results } from "./results.ts";
import type { Contestant } from "./start-server.ts";
import type { Work } from "./work.ts";

export interface Bench {
  options: Options;
  generator: Generator;
  /** The compiled generator for PATCH; undefined if this machine cannot compile it. */
  patchLoad: string | undefined;
  results: Results;
  /** A temporary directory of this run, on the disk that is measured. */
  directory: string;
  /** Why there is no peer to compare with; undefined if there is one. */
  peerProblem: string | undefined;
  /** The library that delays flushes, or why there is none. */
  slowFlush: { library: string } | { problem: string };
}

export interface Task {
  contestant: Contestant;
  work: Work;
}

/**
 * Warms up every contestant, then measures them in turn, so that noise affects all of them. Returns
 * the best of each.
 */
export async function compare(
  { generator, options }: Bench,
  tasks: Task[],
  repeats = options.repeats,
): Promise<Measured[]> {
  const turns = tasks.map(
    ({ contestant, work }) =>
      (durationMs: number) =>
        generator.measure(contestant, work, durationMs),
  );
  return (await takeTurns(turns, repeats, options.runMs)).map(best);
}

/** Runs each once for half the time as a warm-up, then all in turn. Returns the rounds of each. */
export async function takeTurns<Result>(
  turns: readonly ((durationMs: number) => Promise<Result>)[],
  repeats: number,
  runMs: number,
): Promise<Result[][]> {
  for (const turn of turns) await turn(runMs / 2);
  const rounds = turns.map((): Result[] => []);
  for (let round = 0; round < repeats; round++) {
    for (const [index, turn] of turns.entries()) rounds[index]!.push(await turn(runMs));
  }
  return rounds;
}

export function divide(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}

/** Limits the readers of long lists: a few keep the server busy, more only fill socket buffers. */
export function readersFor(options: Options, entries: number): number {
  if (entries <= 1000) return options.readers;
  return Math.min(options.readers, entries <= 10_000 ? 16 : 4);
}

export function formatEntries(entries: number): string {
  return `${entries.toLocaleString("en-US")} entries`;
}
