import type { Fetch } from "../../../client/src/options.ts";
import type { SeenResponse } from "../contract/checker.ts";

export interface Exchange {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly sent: Headers;
  readonly status: number;
}

/** Sends real requests, records them, and reports when none is in flight. */
export class FetchRecorder {
  readonly exchanges: Exchange[] = [];
  /**
   * The errors that the check found. They are collected, because a client treats an error thrown by
   * `fetch` as a failed connection.
   */
  readonly checkErrors: unknown[] = [];
  readonly #check: (response: SeenResponse) => void;
  #inFlight = 0;
  #onIdle: (() => void)[] = [];

  constructor(check: (response: SeenResponse) => void = () => {}) {
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
      this.#runCheck({ method, pathname, status, headers, text });
      return new Response(status === 304 ? null : text, { status, headers });
    } finally {
      if (--this.#inFlight === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  };

  /** Counts the responses with that status. */
  count(status: number): number {
    return this.exchanges.filter((exchange) => exchange.status === status).length;
  }

  /** Waits until no request is in flight. Only then may a simulated clock advance. */
  async waitUntilIdle(): Promise<void> {
    // A call whose response just arrived needs a few turns of the event loop to send its next request.
    for (let turn = 0; turn < 4; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#inFlight === 0) continue;
      await new Promise<void>((resolve) => this.#onIdle.push(resolve));
      turn = 0;
    }
  }

  #runCheck(response: SeenResponse): void {
    try {
      this.#check(response);
    } catch (error) {
      this.checkErrors.push(error);
    }
  }
}
