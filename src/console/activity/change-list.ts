import { batch, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { messageOf } from "../client/api.ts";
import { listen, whenListening } from "../client/live.ts";
import { retryDelayMs } from "../client/retries.ts";
import type { LedgerRow } from "../client/types.ts";
import type { LoadState } from "../parts/loaded.tsx";
import { type ChangeFilter, filterQuery, matchesFilter } from "./change-filter.ts";
import { type LedgerRange, listOlder, rangeOf } from "./older-changes.ts";

/** More rows than this make the page slow. The oldest ones are dropped and can be loaded again. */
const rowsMax = 1_000;
const heldMax = rowsMax + 1;

/** Changes that match a filter, newest first. New ones are added as they happen. */
export class ChangeList {
  readonly filter: ChangeFilter;
  readonly state = signal<LoadState>({ kind: "loading" });
  readonly rows = signal<readonly LedgerRow[]>([]);
  /** New rows that are not shown yet, because the person reads. */
  readonly held = signal<readonly LedgerRow[]>([]);
  readonly isHeld = signal(false);
  readonly isEnd = signal(false);
  readonly isLoadingOlder = signal(false);
  readonly olderError = signal("");
  /** All changes from this number on were examined. */
  readonly before = signal(0);
  /** Rows up to this one were there when the list was loaded. Later ones are new. */
  readonly loadedUpTo = signal(0);
  readonly #count: number;
  #range: LedgerRange = { low: 1, high: 1 };
  #early: LedgerRow[] | undefined = [];
  #leaving = new AbortController();
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #stopListening: () => void = () => undefined;

  /** Loads `count` changes at a time. */
  constructor(filter: ChangeFilter, count: number) {
    this.filter = filter;
    this.#count = count;
  }

  async start(): Promise<void> {
    this.#stopListening = listen({
      rows: (rows) => this.#receive(rows),
      reset: () => void this.reload(),
    });
    await whenListening();
    await this.reload();
  }

  stop(): void {
    this.#stopListening();
    clearTimeout(this.#retry);
    this.#leaving.abort();
  }

  /** Loads the newest changes again. */
  async reload(): Promise<void> {
    clearTimeout(this.#retry);
    this.#leaving.abort();
    this.#leaving = new AbortController();
    const { signal: leaving } = this.#leaving;
    this.#early = [];
    try {
      this.#range = await rangeOf(this.filter, leaving);
      const { high } = this.#range;
      const found = await listOlder(this.filter, this.#range, high, this.#count, leaving);
      if (leaving.aborted) return;
      batch(() => {
        this.rows.value = found.rows;
        this.held.value = [];
        this.isEnd.value = found.isEnd;
        this.before.value = found.before;
        this.loadedUpTo.value = high - 1;
        this.olderError.value = "";
        this.state.value = { kind: "ready" };
        this.#failures = 0;
        const early = this.#early ?? [];
        this.#early = undefined;
        this.#receive(early);
      });
    } catch (error) {
      if (leaving.aborted) return;
      // What is shown stays until the service is back.
      if (this.state.value.kind !== "ready") {
        this.state.value = { kind: "failed", message: messageOf(error) };
      }
      this.#failures += 1;
      this.#retry = setTimeout(() => this.reload(), retryDelayMs(this.#failures));
    }
  }

  async loadOlder(): Promise<void> {
    if (this.isLoadingOlder.value) return;
    const { signal: leaving } = this.#leaving;
    this.isLoadingOlder.value = true;
    this.olderError.value = "";
    const before = this.before.value;
    try {
      const found = await listOlder(this.filter, this.#range, before, this.#count, leaving);
      // If the list was cut meanwhile, these rows do not follow its last one any more.
      if (leaving.aborted || before !== this.before.value) return;
      batch(() => {
        this.rows.value = [...this.rows.value, ...found.rows];
        this.before.value = found.before;
        this.isEnd.value = found.isEnd;
      });
    } catch (error) {
      if (!leaving.aborted) this.olderError.value = messageOf(error);
    } finally {
      this.isLoadingOlder.value = false;
    }
  }

  hold(): void {
    this.isHeld.value = true;
  }

  /** Shows the rows that were held back, and new ones from now on. */
  release(): void {
    const waiting = this.held.value;
    batch(() => {
      this.isHeld.value = false;
      this.held.value = [];
      this.#add(waiting);
    });
  }

  #receive(rows: readonly LedgerRow[]): void {
    if (this.#early) {
      this.#early.push(...rows);
      return;
    }
    // A row that arrives while the list is loaded can be in both.
    const newest = this.held.value[0]?.seq ?? this.rows.value[0]?.seq ?? 0;
    const fresh = rows.filter((row) => row.seq > newest && matchesFilter(this.filter, row));
    if (fresh.length === 0) return;
    const newestFirst = fresh.reverse();
    // One more than the page shows: then the list is cut, and no row is missing in between.
    if (this.isHeld.value) this.held.value = [...newestFirst, ...this.held.value].slice(0, heldMax);
    else this.#add(newestFirst);
  }

  #add(newestFirst: readonly LedgerRow[]): void {
    const rows = [...newestFirst, ...this.rows.value];
    this.rows.value = rows.length > rowsMax ? rows.slice(0, rowsShownAfterDrop) : rows;
    if (rows.length <= rowsMax) return;
    this.before.value = this.rows.value.at(-1)!.seq;
    this.isEnd.value = false;
  }
}

/** Not `rowsMax`, so that a busy list is not cut with each row. */
const rowsShownAfterDrop = 500;

/** The changes that match a filter, followed while the component is shown. */
export function useChangeList(filter: ChangeFilter, count: number): ChangeList {
  const list = useMemo(() => new ChangeList(filter, count), [filterQuery(filter)]);
  useEffect(() => {
    void list.start();
    return () => list.stop();
  }, [list]);
  return list;
}
