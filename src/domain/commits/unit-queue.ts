import type { Unit } from "../ledger/ledger.ts";
import { inTurns } from "./fairness.ts";

/** Something that waits with a unit of changes. */
export interface Queued {
  readonly unit: Unit;
}

/** Units that wait for a transaction. If there are more than fit into one, keys take turns. */
export interface UnitQueue<T extends Queued> {
  /** In the order in which they will be taken, if no others arrive. */
  readonly units: readonly T[];
  readonly changes: number;
  add(units: readonly T[]): void;
  /** The units that share the next transaction: at least one, if any waits. They stay in the queue. */
  next(): readonly T[];
  /** Removes the first units. They are those of `next`, if nothing was done in between. */
  take(count: number): readonly T[];
  /** Removes all units. */
  clear(): readonly T[];
}

/** In its turn, a key adds up to this share of a group, or one larger unit. */
const turnShare = 1 / 8;

export function createUnitQueue<T extends Queued>(groupMax: number): UnitQueue<T> {
  let waiting: T[] = [];
  let changes = 0;

  function take(count: number): readonly T[] {
    const taken = count < waiting.length ? waiting.splice(0, count) : waiting;
    if (taken === waiting) waiting = [];
    changes -= changesOf(taken);
    return taken;
  }

  return {
    get units() {
      return waiting;
    },
    get changes() {
      return changes;
    },
    add(units) {
      for (const one of units) waiting.push(one);
      changes += changesOf(units);
    },
    next() {
      if (changes <= groupMax) return waiting;
      const group: T[] = [];
      const others: T[] = [];
      const passedOver = new Set<string | null>();
      let sum = 0;
      for (const one of inTurns(waiting, keyOf, sizeOf, groupMax * turnShare)) {
        const isFitting = sum === 0 || sum + sizeOf(one) <= groupMax;
        if (isFitting && !passedOver.has(keyOf(one))) {
          group.push(one);
          sum += sizeOf(one);
        } else {
          // Those behind it that fit are taken, but not of its own key, which keeps its order.
          others.push(one);
          passedOver.add(keyOf(one));
        }
      }
      waiting = [...group, ...others];
      return group;
    },
    take,
    clear: () => take(waiting.length),
  };
}

export function keyOf({ unit }: Queued): string | null {
  return unit.keyId;
}

export function sizeOf({ unit }: Queued): number {
  return unit.changes.length;
}

export function changesOf(units: readonly Queued[]): number {
  let changes = 0;
  for (const one of units) changes += sizeOf(one);
  return changes;
}
