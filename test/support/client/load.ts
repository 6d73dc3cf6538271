import type { Fetch } from "../../../client/src/options.ts";
import type { SeenAnswer } from "../contract/answer-check.ts";

export interface Exchange {
  readonly method: string;
  /** With its query, as it was sent. */
  readonly path: string;
  readonly sent: Headers;
  readonly status: number;
}

/** Real requests, watched: a simulated clock may only move while none is on its way. */
export class Traffic {
  readonly exchanges: Exchange[] = [];
  /** What the check found; a client takes an error thrown here for a failed connection. */
  readonly faults: unknown[] = [];
  readonly #check: (answer: SeenAnswer) => void;
  #inFlight = 0;
  #onIdle: (() => void)[] = [];

  constructor(check: (answer: SeenAnswer) => void = () => {}) {
    this.#check = check;
  }

  readonly fetch: Fetch = async (url, init) => {
    this.#inFlight++;
    try {
      const response = await fetch(url, init);
      const text = await response.text();
      const { status, headers } = response;
      const method = init.method ?? "GET";
      const { pathname, search } = new URL(url);
      this.exchanges.push({
        method,
        path: pathname + search,
        sent: new Headers(init.headers),
        status,
      });
      this.#inspect({ method, pathname, status, headers, text });
      return new Response(status === 304 ? null : text, { status, headers });
    } finally {
      if (--this.#inFlight === 0) for (const wake of this.#onIdle.splice(0)) wake();
    }
  };

  /** How many answers had that status. */
  count(status: number): number {
    return this.exchanges.filter((exchange) => exchange.status === status).length;
  }

  async idle(): Promise<void> {
    // A few turns of the event loop let calls that were just answered send their next request.
    for (let turn = 0; turn < 4; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#inFlight === 0) continue;
      await new Promise<void>((resolve) => this.#onIdle.push(resolve));
      turn = 0;
    }
  }

  #inspect(answer: SeenAnswer): void {
    try {
      this.#check(answer);
    } catch (fault) {
      this.faults.push(fault);
    }
  }
}
