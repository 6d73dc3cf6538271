// Counts delays in whole milliseconds. Cheaper than a histogram of latencies, for millions a second.

export interface DelaySummary {
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

const delayMsMax = 120_000;

export class Delays {
  readonly #counts = new Float64Array(delayMsMax + 1);

  /** The two clocks may differ by a millisecond, so a delay can be negative. */
  add(ms: number): void {
    this.#counts[ms < 0 ? 0 : ms > delayMsMax ? delayMsMax : ms]!++;
  }

  /** Undefined if there is none. */
  summary(): DelaySummary | undefined {
    const count = this.#counts.reduce((sum, one) => sum + one, 0);
    if (count === 0) return undefined;
    const percentile = (share: number) => {
      let left = count * share;
      return this.#counts.findIndex((one) => {
        left -= one;
        return left <= 0;
      });
    };
    const maxMs = this.#counts.findLastIndex((one) => one > 0);
    return { p50Ms: percentile(0.5), p99Ms: percentile(0.99), maxMs };
  }

  clear(): void {
    this.#counts.fill(0);
  }
}
