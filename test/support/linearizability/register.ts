import type { Update } from "./history.ts";

export type RegisterRead = { start: number; end: number; value: number | undefined };
type Write = Pick<Update, "start" | "end" | "quantity" | "outcome">;

/**
 * A value with the write that set it and the reads that returned it. If `firstEnd` is before
 * `lastStart`, the register must have had the value all the time in between.
 */
type Cluster = {
  readonly value: number | undefined;
  readonly writtenFrom: number;
  firstEnd: number;
  lastStart: number;
};

/**
 * Tells whether an order of effects explains what the clients saw of one pet. Each operation
 * takes effect once between its start and its end, and a read returns the last value written.
 * Returns undefined if there is such an order, otherwise what contradicts it.
 *
 * No two writes may set the same value. Then an order exists exactly if no read ended before its write
 * began, and of any two values one can come completely before the other (Gibbons and Korach, Testing
 * Shared Memories, 1997): value A must come before value B if one of its operations ended before one of
 * B's began, and two values must not each have to come before the other.
 */
export function checkRegister(
  initial: number | undefined,
  writes: readonly Write[],
  reads: readonly RegisterRead[],
): string | undefined {
  const began = Number.NEGATIVE_INFINITY;
  const clusters = new Map<number | undefined, Cluster>();
  clusters.set(initial, { value: initial, writtenFrom: began, firstEnd: began, lastStart: began });
  const read = new Set(reads.map(({ value }) => value));
  for (const { quantity: value, start, end, outcome } of writes) {
    const isAcknowledged = outcome === "acknowledged";
    // Otherwise it took effect at any later time if somebody has read it, and never if nobody has.
    if (!isAcknowledged && !read.has(value)) continue;
    if (clusters.has(value)) throw new Error(`The value ${value} is not unique.`);
    const firstEnd = isAcknowledged ? end : Number.POSITIVE_INFINITY;
    clusters.set(value, { value, writtenFrom: start, firstEnd, lastStart: start });
  }
  for (const { value, start, end } of reads) {
    const cluster = clusters.get(value);
    if (!cluster) return `${value} was read at ${end}, but never written`;
    if (end < cluster.writtenFrom) return `${value} was read at ${end}, before it was written`;
    cluster.firstEnd = Math.min(cluster.firstEnd, end);
    cluster.lastStart = Math.max(cluster.lastStart, start);
  }
  return findContradiction([...clusters.values()]);
}

function findContradiction(clusters: readonly Cluster[]): string | undefined {
  const held = clusters
    .filter(({ firstEnd, lastStart }) => firstEnd < lastStart)
    .toSorted((a, b) => a.firstEnd - b.firstEnd);
  for (const [index, one] of held.entries()) {
    const before = held[index - 1];
    if (before && before.lastStart > one.firstEnd) return describe(before, one);
  }
  // The times in which values were held do not overlap. So only the last one before can enclose a cluster.
  for (const one of clusters) {
    const around = held.findLast((other) => other !== one && other.firstEnd < one.lastStart);
    if (around && one.firstEnd < around.lastStart) return describe(around, one);
  }
  return undefined;
}

function describe(around: Cluster, one: Cluster): string {
  return `the value was ${around.value} from ${around.firstEnd} to ${around.lastStart}, and ${one.value} in between`;
}
