import { yieldToEventLoop } from "../running/background.ts";
import { compareIds, halvesOf } from "../values/int64-arrays.ts";

/** Said in the same words wherever low stock is described. */
export const lowStockRule =
  "An entry is low if its quantity is at most its threshold: the `lowStockAt` of the pet or, without one, the default of the store. Without either it is never low.";

/** Pets that have a threshold of their own. */
export interface ThresholdStore {
  /** Grows with every change of a threshold. */
  readThresholdsVersion(): Promise<number>;
  /** Pets with a larger id (null: from the first), ascending, and their thresholds. */
  thresholdsAfter(
    petId: bigint | null,
    petsMax: number,
  ): Promise<readonly (readonly [petId: bigint, lowStockAt: number])[]>;
}

/** All thresholds at one time. */
export interface ThresholdTable {
  /** False if no entry can be low. */
  readonly hasAny: boolean;
  /**
   * Returns a function for the thresholds of ascending ids, to be called with ascending indexes. It
   * returns -1 if there is none, so that no quantity is low.
   */
  along(ids: BigInt64Array): (index: number) => number;
}

export interface Thresholds {
  /** The threshold of pets that have none of their own. */
  readonly defaultAt: number | undefined;
  /** The thresholds as they were stored when this call began, or later. */
  current(): Promise<ThresholdTable>;
}

/** How many are read in one turn of the event loop. */
const slicePets = 2_000;

/**
 * Keeps all thresholds in memory, 16 bytes each, so that the ledger and the list are compared with them
 * without reading the store. They are loaded again after a change.
 */
export function createThresholds(store: ThresholdStore, defaultAt: number | undefined): Thresholds {
  let version: number | undefined;
  let table = tableOf([], defaultAt ?? -1);
  let last: Promise<unknown> = Promise.resolve();

  async function load(): Promise<ThresholdTable> {
    const found = await store.readThresholdsVersion();
    if (found === version) return table;
    const pages: Page[] = [];
    let after: bigint | null = null;
    for (;;) {
      const rows = await store.thresholdsAfter(after, slicePets);
      pages.push({
        ids: BigInt64Array.from(rows, ([petId]) => petId),
        ats: Float64Array.from(rows, ([, at]) => at),
      });
      if (rows.length < slicePets) break;
      after = rows.at(-1)![0];
      await yieldToEventLoop();
    }
    table = tableOf(pages, defaultAt ?? -1);
    version = found;
    return table;
  }

  return {
    defaultAt,
    current() {
      const loaded = last.then(load);
      last = loaded.catch(() => {});
      return loaded;
    },
  };
}

interface Page {
  readonly ids: BigInt64Array;
  readonly ats: Float64Array;
}

export const noThresholds = tableOf([], -1);

function tableOf(pages: readonly Page[], defaultAt: number): ThresholdTable {
  const count = pages.reduce((sum, { ids }) => sum + ids.length, 0);
  const [ids, ats] = [new BigInt64Array(count), new Float64Array(count)];
  let end = 0;
  for (const page of pages) {
    ids.set(page.ids, end);
    ats.set(page.ats, end);
    end += page.ids.length;
  }
  const own = halvesOf(ids);
  /** The first place whose id is not smaller than this one. */
  function placeOf(halves: Int32Array, index: number): number {
    let [from, to] = [0, count];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (compareIds(own, middle, halves, index) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }
  return {
    hasAny: count > 0 || defaultAt >= 0,
    along(wanted) {
      const halves = halvesOf(wanted);
      let at: number | undefined;
      return (index) => {
        at ??= placeOf(halves, index);
        while (at < count && compareIds(own, at, halves, index) < 0) at += 1;
        return at < count && compareIds(own, at, halves, index) === 0 ? ats[at]! : defaultAt;
      };
    },
  };
}
