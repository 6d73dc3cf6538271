// What every section is given, and the one way in which contestants are compared.
import type { Book } from "./book.ts";
import type { Contestant } from "./contestants.ts";
import type { Generator, Measured } from "./generator.ts";
import type { Work } from "./load.ts";
import type { Options } from "./options.ts";

export interface Bench {
  options: Options;
  generator: Generator;
  book: Book;
  /** A directory of this run's own on the disk that is measured. */
  directory: string;
  /** Why there is no peer to compare with, if so. */
  peerProblem: string | undefined;
  /** The library that slows flushes down, or why there is none. */
  slowFlush: { library: string } | { problem: string };
}

export interface Entrant {
  contestant: Contestant;
  work: Work;
}

/** Warms every entrant up, then lets them take turns, so that a noisy minute hits all alike. */
export async function compare(
  bench: Bench,
  entrants: Entrant[],
  repeats = bench.options.repeats,
): Promise<Measured[]> {
  const { generator, options } = bench;
  for (const { contestant, work } of entrants) {
    await generator.measure(contestant, work, options.runMs / 2);
  }
  const rounds: Measured[][] = entrants.map(() => []);
  for (let round = 0; round < repeats; round++) {
    for (const [index, { contestant, work }] of entrants.entries()) {
      rounds[index]!.push(await generator.measure(contestant, work, options.runMs));
    }
  }
  return rounds.map(best);
}

/** Noise only ever adds: the least processor time and the best rate are nearest to the truth. */
export function best(rounds: Measured[]): Measured {
  const fastest = rounds.reduce((one, other) => (other.throughput > one.throughput ? other : one));
  const known = rounds.flatMap(({ cpuMicroseconds }) => cpuMicroseconds ?? []);
  return { ...fastest, cpuMicroseconds: known.length > 0 ? Math.min(...known) : undefined };
}

export function divide(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}

/** Lists of megabytes need few readers to keep a server busy, and more only fill socket buffers. */
export function readersFor(options: Options, entries: number): number {
  if (entries <= 1000) return options.readers;
  return Math.min(options.readers, entries <= 10_000 ? 16 : 4);
}

export function sized(entries: number): string {
  return `${entries.toLocaleString("en-US")} entries`;
}
