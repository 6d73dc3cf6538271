import type { LedgerParts } from "../ledger/store.ts";
import { every, monotonicMs, whileAvailable } from "../running/background.ts";
import type { Log } from "../running/events.ts";
import { createPacer } from "../running/pacer.ts";
import { dayMs } from "../values/times.ts";

/** Said in the same words wherever low stock is described. */
export const lowStockRule =
  "An entry is low if its quantity is at most its threshold: the lowStockAt of the pet or, without one, the default of the store. Without either it is never low.";

/** A pace is what was sold on this many UTC days: today and the days before it. */
export const paceDays = 28;

/** The units of a pet that were sold, or its threshold. At most 2^53 - 1. */
export interface PetNumber {
  readonly petId: bigint;
  readonly value: number;
}

/**
 * Units sold per pet and UTC day. A sale is a row of the cause `api` that lowers a quantity. The sums are
 * derived from the ledger, so a backup does not contain them.
 */
export interface SalesStore {
  /** The last ledger row that the sums include. */
  readSalesSeq(): Promise<number>;
  /**
   * Adds the next rows to the sums. They and the position are stored together, so each row counts once,
   * however many processes call this. Skips rows up to `skipTo`, and removes sums from before `firstDay`.
   */
  addSales(skipTo: number, firstDay: number): Promise<void>;
  /** Pets with a larger id (null: from the first) that were sold since a day, ascending. */
  soldAfter(petId: bigint | null, firstDay: number, petsMax: number): Promise<readonly PetNumber[]>;
  /** The pets from one id to another that have a threshold of their own, ascending, and the thresholds. */
  thresholdsFrom(petId: bigint, upTo: bigint, petsMax: number): Promise<readonly PetNumber[]>;
}

/**
 * Rows that one transaction adds. On SQLite updates wait for it meanwhile. The sum of a thousand safe
 * integers fits into 64 bits.
 */
export const salesRowsMax = 500;

/** The first day of a pace that ends at a time, as a number of days since 1970. */
export function firstPaceDay(time: number): number {
  return Math.floor(time / dayMs) - (paceDays - 1);
}

const everyMs = 2_000;

/**
 * The work takes a tenth of the time. While many changes are committed, it takes so little that 99 of 100
 * updates do not wait for it, and the sums lag behind.
 */
const pauses = { idle: 9, busy: 199, countsWaits: false };

/** Keeps the sums up to date in the background. `lastSeq` returns the last row of the ledger. */
export function followSales(
  { history, sales }: Pick<LedgerParts, "history"> & { readonly sales: SalesStore },
  lastSeq: () => number,
  log: Log,
) {
  const pacer = createPacer(monotonicMs, lastSeq, pauses);
  let isStopped = false;
  let adding: Promise<void> | undefined;

  async function catchUp(): Promise<void> {
    while (!isStopped) {
      const tip = await history.readTip();
      if ((await sales.readSalesSeq()) >= tip.seq) return;
      // By the times of the ledger, which never decrease: a clock that was ahead must not remove sums.
      const firstDay = firstPaceDay(tip.at);
      const skipTo = await history.seqAt(firstDay * dayMs - 1);
      if (isStopped) return;
      const startedAt = monotonicMs();
      adding = sales.addSales(skipTo, firstDay);
      await adding;
      pacer.spend(monotonicMs() - startedAt);
      await pacer.turn();
    }
  }

  const stopTimer = every(everyMs, "adding up sales", log, whileAvailable(catchUp));
  return {
    /** Adds all rows that are stored. */
    catchUp,
    /** Does not wait for the end of a pause. */
    async stop() {
      stopTimer();
      isStopped = true;
      await adding?.catch(() => {});
    },
  };
}
