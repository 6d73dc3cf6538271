import { batch } from "@preact/signals";
import { listen, whenListening } from "./live.ts";
import { pause, retryDelayMs } from "./retries.ts";
import type { LedgerRow } from "./types.ts";

interface Followed<T> {
  load(signal: AbortSignal): Promise<T>;
  /** Shows what was loaded. Changes that arrived meanwhile are `early`: some may be in it already. */
  show(loaded: T, early: readonly LedgerRow[]): void;
  receive(changes: readonly LedgerRow[]): void;
  /** Called with each failed attempt to load. The next one follows by itself. */
  failed(error: unknown): void;
}

/** Loads data that changes with the ledger, and follows the feed from then on. */
export class Follower<T> {
  readonly #followed: Followed<T>;
  #leaving = new AbortController();
  #early: LedgerRow[] | undefined;
  #failures = 0;
  #stopListening: () => void = () => undefined;

  constructor(followed: Followed<T>) {
    this.#followed = followed;
  }

  /** Aborted when the data is loaded again, and at the end. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  async start(): Promise<void> {
    this.#leaving = new AbortController();
    this.#early = [];
    this.#stopListening = listen({
      rows: (rows) => {
        if (this.#early) this.#early.push(...rows);
        else this.#followed.receive(rows);
      },
      reset: () => void this.reload(),
    });
    const { signal } = this;
    await whenListening();
    if (!signal.aborted) await this.reload();
  }

  stop(): void {
    this.#stopListening();
    this.#leaving.abort();
  }

  /** Loads everything again, until that succeeds. Only the last call has an effect. */
  async reload(): Promise<void> {
    this.#leaving.abort();
    this.#leaving = new AbortController();
    const { signal } = this;
    this.#early = [];
    try {
      const loaded = await this.#followed.load(signal);
      if (signal.aborted) return;
      const early = this.#early;
      this.#early = undefined;
      this.#failures = 0;
      batch(() => this.#followed.show(loaded, early));
    } catch (error) {
      if (signal.aborted) return;
      this.#followed.failed(error);
      this.#failures += 1;
      await pause(retryDelayMs(this.#failures));
      if (!signal.aborted) await this.reload();
    }
  }
}
