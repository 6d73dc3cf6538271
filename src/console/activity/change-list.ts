import { batch, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { messageOf } from "../client/api.ts";
import { Follower } from "../client/follower.ts";
import type { LedgerRow } from "../client/types.ts";
import type { Loaded, LoadedSource } from "../parts/loaded.tsx";
import { type ChangeFilter, filterQuery, matchesFilter } from "./change-filter.ts";
import { type LedgerRange, listOlder, type OlderChanges, rangeOf } from "./older-changes.ts";

/** More rows than this make the page slow. The oldest ones are dropped and can be loaded again. */
const rowsMax = 1_000;
const heldMax = rowsMax + 1;

/** Changes that match a filter, newest first. New ones are added as they happen. */
export class ChangeList implements LoadedSource<LedgerRange> {
  readonly filter: ChangeFilter;
  /** The first row of the filter, and its end when the list was loaded. Rows after the end are new. */
  readonly state = signal<Loaded<LedgerRange>>({ kind: "loading" });
  readonly rows = signal<readonly LedgerRow[]>([]);
  /** New rows that are not shown, because the person is reading. Undefined if they are shown at once. */
  readonly held = signal<readonly LedgerRow[] | undefined>(undefined);
  /** All changes from this number on were examined. */
  readonly before = signal(0);
  readonly follower: Follower<OlderChanges & { readonly range: LedgerRange }>;
  readonly #rowsAtOnce: number;

  /** Loads `rowsAtOnce` changes at a time. */
  constructor(filter: ChangeFilter, rowsAtOnce: number) {
    this.filter = filter;
    this.#rowsAtOnce = rowsAtOnce;
    this.follower = new Follower({
      load: async (leaving) => {
        const range = await rangeOf(filter, leaving);
        return { range, ...(await listOlder(filter, range, rowsAtOnce, leaving)) };
      },
      show: ({ range, rows, before }, early) => {
        this.rows.value = rows;
        this.before.value = before;
        this.held.value &&= [];
        this.state.value = { kind: "ready", value: range };
        this.#receive(early);
      },
      receive: (changes) => this.#receive(changes),
      failed: (error) => {
        // What is shown stays until the service is back.
        if (this.state.value.kind === "ready") return;
        this.state.value = { kind: "failed", message: messageOf(error) };
      },
    });
  }

  readonly reload = () => this.follower.reload();

  /** Loads older changes, back to the row `low`. */
  async loadOlder(low: number): Promise<void> {
    const { signal: leaving } = this.follower;
    const { value: high } = this.before;
    const found = await listOlder(this.filter, { low, high }, this.#rowsAtOnce, leaving);
    // If the list was cut meanwhile, these rows no longer follow its last one.
    if (leaving.aborted || high !== this.before.value) return;
    batch(() => {
      this.rows.value = [...this.rows.value, ...found.rows];
      this.before.value = found.before;
    });
  }

  hold(): void {
    this.held.value = [];
  }

  /** Shows the rows that were held back, and new ones from now on. */
  release(): void {
    const { value: waiting = [] } = this.held;
    batch(() => {
      this.held.value = undefined;
      this.#add(waiting);
    });
  }

  #receive(rows: readonly LedgerRow[]): void {
    const { value: held } = this.held;
    // A row that arrives while the list is loaded can be in both.
    const newest = held?.[0]?.seq ?? this.rows.value[0]?.seq ?? 0;
    const fresh = rows.filter((row) => row.seq > newest && matchesFilter(this.filter, row));
    if (fresh.length === 0) return;
    const newestFirst = fresh.reverse();
    // One more than the page shows: then the list is cut, and no row is missing in between.
    if (held) this.held.value = [...newestFirst, ...held].slice(0, heldMax);
    else this.#add(newestFirst);
  }

  #add(newestFirst: readonly LedgerRow[]): void {
    const rows = [...newestFirst, ...this.rows.value];
    this.rows.value = rows.length > rowsMax ? rows.slice(0, rowsShownAfterDrop) : rows;
    if (rows.length > rowsMax) this.before.value = this.rows.value.at(-1)!.seq;
  }
}

/** Not `rowsMax`, so that a busy list is not cut with each row. */
const rowsShownAfterDrop = 500;

/** The changes that match a filter, followed while the component is shown. */
export function useChangeList(filter: ChangeFilter, rowsAtOnce: number): ChangeList {
  const list = useMemo(() => new ChangeList(filter, rowsAtOnce), [filterQuery(filter)]);
  useEffect(() => {
    void list.follower.start();
    return () => list.follower.stop();
  }, [list]);
  return list;
}
