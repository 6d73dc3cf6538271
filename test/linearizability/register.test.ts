import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Update } from "../support/linearizability/history.ts";
import { checkRegister, type RegisterRead } from "../support/linearizability/register.ts";

type Write = Pick<Update, "start" | "end" | "quantity" | "outcome">;

const interval = fc
  .tuple(fc.nat(12), fc.integer({ min: 0, max: 6 }))
  .map(([start, takes]) => ({ start, end: start + takes }));
/** Every write has a value of its own, and none that of the beginning, 0. */
const writes: fc.Arbitrary<Write[]> = fc
  .array(fc.tuple(interval, fc.constantFrom("acknowledged" as const, "unknown" as const)), {
    maxLength: 4,
  })
  .map((some) => some.map(([when, outcome], at) => ({ ...when, quantity: at + 1, outcome })));
const read: fc.Arbitrary<RegisterRead> = fc
  .tuple(interval, fc.nat(4))
  .map(([when, value]) => ({ ...when, value }));

/** The definition without shortcuts: tries every order of every choice of effects. */
function explainedByBruteForce(writes: readonly Write[], reads: readonly RegisterRead[]): boolean {
  type Pending = { start: number; end: number; value: number | undefined; writes: boolean };
  const required: Pending[] = [
    ...writes
      .filter((one) => one.outcome === "acknowledged")
      .map((one) => ({ ...one, value: one.quantity, writes: true })),
    ...reads.map((one) => ({ ...one, writes: false })),
  ];
  const optional: Pending[] = writes
    .filter((one) => one.outcome === "unknown")
    .map((one) => ({ start: one.start, end: Infinity, value: one.quantity, writes: true }));

  function search(pending: Pending[], value: number | undefined): boolean {
    if (pending.every((one) => optional.includes(one))) return true;
    return pending.some((one) => {
      if (pending.some((other) => other.end < one.start)) return false;
      if (!one.writes && one.value !== value) return false;
      return search(
        pending.filter((other) => other !== one),
        one.writes ? one.value : value,
      );
    });
  }
  return search([...required, ...optional], 0);
}

test("the rule agrees with trying every order, on any small history", () => {
  let explained = 0;
  let refuted = 0;
  fc.assert(
    fc.property(writes, fc.array(read, { minLength: 1, maxLength: 3 }), (writes, reads) => {
      const right = explainedByBruteForce(writes, reads);
      if (right) explained++;
      else refuted++;
      return (checkRegister(0, writes, reads) === undefined) === right;
    }),
    { numRuns: 5000 },
  );
  // The property is worth little unless both results occurred.
  expect(Math.min(explained, refuted)).toBeGreaterThan(100);
});

test("a long history with many unknown outcomes is checked in a short time", () => {
  const writes: Write[] = [];
  const reads: RegisterRead[] = [];
  for (let at = 0; at < 2000; at++) {
    const outcome = at % 10 === 0 ? "unknown" : "acknowledged";
    // Seven writes overlap at any time, and the outcome of one in ten is unknown.
    writes.push({ start: at, end: at + 7, quantity: at, outcome });
    reads.push({ start: at + 6.5, end: at + 7.5, value: at });
  }
  expect(checkRegister(undefined, writes, reads)).toBeUndefined();
  reads.push({ start: 3000, end: 3001, value: 5 });
  expect(checkRegister(undefined, writes, reads)).toContain("the value was 5");
});
