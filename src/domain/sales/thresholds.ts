import { yieldToEventLoop } from "../running/background.ts";

/** Said in the same words wherever low stock is described. */
export const lowStockRule =
  "An entry is low if its quantity is at most its threshold: the lowStockAt of the pet or, without one, the default of the store. Without either it is never low.";

/** Reads the thresholds of pets that have one of their own. */
export interface ThresholdReader {
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
  /** Returns -1 for a pet without a threshold, so that no quantity is low. */
  of(petId: bigint): number;
}

export const noThresholds: ThresholdTable = { hasAny: false, of: () => -1 };

export interface Thresholds {
  /** The threshold of pets that have none of their own. */
  readonly defaultAt: number | undefined;
  /** The thresholds as they were stored when this call began, or later. */
  current(): Promise<ThresholdTable>;
}

/** How many are read in one turn of the event loop. */
const slicePets = 1_000;

/**
 * Keeps all thresholds in memory, so that the ledger and the list are compared with them without reading
 * the store. They are loaded again after a change.
 */
export function createThresholds(
  store: ThresholdReader,
  defaultAt: number | undefined,
): Thresholds {
  let version: number | undefined;
  let table = noThresholds;
  let last: Promise<unknown> = Promise.resolve();

  async function load(): Promise<ThresholdTable> {
    const found = await store.readThresholdsVersion();
    if (found === version) return table;
    // In parts: to let one map with a million entries grow takes too long at once.
    const own = Array.from({ length: 256 }, () => new Map<bigint, number>());
    const partOf = (petId: bigint) => own[Number(BigInt.asUintN(8, petId))]!;
    for (let after: bigint | null = null; ; await yieldToEventLoop()) {
      const rows = await store.thresholdsAfter(after, slicePets);
      for (const [petId, at] of rows) partOf(petId).set(petId, at);
      if (rows.length < slicePets) break;
      after = rows.at(-1)![0];
    }
    const hasAny = own.some(({ size }) => size > 0) || defaultAt !== undefined;
    table = { hasAny, of: (petId) => partOf(petId).get(petId) ?? defaultAt ?? -1 };
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
