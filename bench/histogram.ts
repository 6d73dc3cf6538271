// A histogram of latencies. Buckets are at most 3 % wide; memory is constant.

const stepsPerDoubling = 32;

export class Histogram {
  readonly #buckets = new Uint32Array(stepsPerDoubling * 40);
  #count = 0;
  #maxMs = 0;

  add(milliseconds: number): void {
    const nanoseconds = Math.max(1, milliseconds * 1e6);
    const bucket = Math.min(
      this.#buckets.length - 1,
      Math.floor(Math.log2(nanoseconds) * stepsPerDoubling),
    );
    this.#buckets[bucket]!++;
    this.#count++;
    if (milliseconds > this.#maxMs) this.#maxMs = milliseconds;
  }

  get count(): number {
    return this.#count;
  }

  /** Returns the upper edge of the bucket that contains this share of the requests. */
  percentileMs(share: number): number {
    let left = this.#count * share;
    for (let bucket = 0; bucket < this.#buckets.length; bucket++) {
      left -= this.#buckets[bucket]!;
      if (left <= 0) {
        return Math.min(this.#maxMs, 2 ** ((bucket + 1) / stepsPerDoubling) / 1e6);
      }
    }
    return this.#maxMs;
  }

  summary(): Latency {
    return {
      requests: this.#count,
      p50Ms: this.percentileMs(0.5),
      p99Ms: this.percentileMs(0.99),
      maxMs: this.#maxMs,
    };
  }
}

export interface Latency {
  requests: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}
