import fc from "fast-check";
import type { History, LedgerRow, Read, Update } from "./history.ts";

const PETS = [1n, 2n, 9007199254740993n];

type Step = {
  petId: bigint;
  start: number;
  takesMs: number;
  /** Where between start and end the operation takes effect, in percent. */
  effect: number;
  kind: "acknowledged" | "refused" | "unknown" | "unanswered" | "never" | "read";
};

const step: fc.Arbitrary<Step> = fc.record({
  petId: fc.constantFrom(...PETS),
  start: fc.integer({ min: 0, max: 200 }),
  takesMs: fc.integer({ min: 1, max: 30 }),
  effect: fc.integer({ min: 0, max: 100 }),
  kind: fc.constantFrom(
    "acknowledged",
    "acknowledged",
    "read",
    "read",
    "refused",
    "unknown",
    "unanswered",
    "never",
  ),
});

/** Histories of a correct inventory with overlapping clients, some of whose responses were lost. */
export const rightHistory: fc.Arbitrary<History> = fc
  .array(step, { minLength: 1, maxLength: 60 })
  .map(play);

function play(steps: readonly Step[]): History {
  const initial = new Map(PETS.map((petId) => [petId, 0]));
  const inventory = new Map(initial);
  const updates: Update[] = [];
  const reads: Read[] = [];
  const ledger: LedgerRow[] = [];
  const timed = steps.map((one) => ({ ...one, at: one.start + (one.takesMs * one.effect) / 100 }));
  for (const [index, one] of timed.toSorted((a, b) => a.at - b.at).entries()) {
    const { petId, start } = one;
    // No two updates set the same quantity, and none that of the beginning.
    const quantity = index + 1;
    const end = start + one.takesMs;
    const seq = BigInt(ledger.length);
    if (one.kind === "read") {
      reads.push({ start, end, entries: new Map(inventory), ...(index % 2 ? { seq } : {}) });
      continue;
    }
    const id = `update ${index}`;
    const outcome = one.kind === "never" ? "unknown" : one.kind;
    // The client of an unanswered update was lost early: it takes effect after the client's end.
    const seenEnd = outcome === "unanswered" ? Math.min(end, start + 1) : end;
    updates.push({ id, petId, quantity, start, end: seenEnd, outcome });
    if (one.kind === "refused" || one.kind === "never") continue;
    const quantityBefore = inventory.get(petId) ?? null;
    ledger.push({ seq: seq + 1n, id, petId, quantityBefore, quantityAfter: quantity });
    inventory.set(petId, quantity);
  }
  return { initial, initialSeq: 0n, updates, reads, ledger };
}
