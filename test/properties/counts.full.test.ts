import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Cause, Change } from "../../src/domain/ledger/ledger.ts";
import { runs } from "../support/properties/runs.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { unitOf } from "../support/units.ts";

/**
 * A shop with one shelf, two people who count it, and tills that sell from it. The store begins with a
 * wrong number. Whoever applies a count, and whatever happened in between, the store must then have
 * what is on the shelf, or refuse the count because of an undo.
 */

interface Count {
  readonly amount: number;
  /** The last row that the device had heard of. */
  readonly seq: number;
  readonly time: number;
}

const device = fc.constantFrom(0, 1);
const stepOf = (weight: number, kind: string, size: fc.Arbitrary<number>) => ({
  weight,
  arbitrary: fc.record({ kind: fc.constant(kind), size }),
});
const step = fc.oneof(
  stepOf(4, "sale", fc.integer({ min: 1, max: 4 })),
  stepOf(1, "delivery", fc.nat(9)),
  stepOf(3, "undo", fc.constant(0)),
  // The feed reaches a device at some time, or not: then it is offline.
  stepOf(2, "hear", device),
  stepOf(3, "count", device),
  stepOf(2, "apply", device),
);

describe.each([surfaceEngine])("counts on %s", (engine) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(engine);
  });
  afterAll(() => service.stop());
  let petId = 0n;

  test("the store ends with what is on the shelf, however sales and counts of two people interleave", async () => {
    const seen = { stored: 0, count_outdated: 0, late: 0 };
    const trial = async (
      shelf: number,
      recorded: number,
      steps: readonly { kind: string; size: number }[],
    ) => {
      const { inventory, history } = service.store;
      petId += 1n;
      await service.addPets({ petId, quantity: recorded });
      const entry = async () => (await history.findEntry(petId))!.entry;
      const commit = async (change: Partial<Change>, cause: Cause = "api") => {
        const unit = { ...unitOf({ petId, ...change }), cause };
        return (await inventory.commit([unit])).outcomes[0]!;
      };
      const first = (await history.readTip()).seq;
      const heard = [first, first];
      const counts: (Count | undefined)[] = [undefined, undefined];
      /** What the last row did to the shelf, if it can be undone, and when something was undone. */
      let last = 0;
      let undoneAt = -1;
      const move = async (amount: number) => {
        const { kind } = await commit({ kind: "add", amount });
        // A till refuses to sell what the store does not have.
        if (kind === "rejected") return;
        shelf += amount;
        last = amount;
      };
      /** A customer brings back what was just sold, or a delivery goes back. */
      const undo = async () => {
        if (last === 0) return;
        const { quantity } = await entry();
        await commit({ amount: quantity - last }, "undo");
        shelf -= last;
        last = 0;
        undoneAt = service.clock.now();
      };
      const apply = async (count: Count | undefined) => {
        if (!count) return;
        const { amount, seq, time } = count;
        const { quantity } = await entry();
        const outcome = await commit({ kind: "count", amount, countedAt: { seq, time } });
        if (undoneAt > time) {
          expect(outcome).toMatchObject({ kind: "rejected", reason: "count_outdated" });
          expect((await entry()).quantity).toBe(quantity);
          seen.count_outdated += 1;
          return;
        }
        expect(outcome).toMatchObject({ kind: "stored", entries: [{ quantity: shelf }] });
        last = 0;
        seen.stored += 1;
      };
      for (const { kind, size } of steps) {
        // No two steps happen at the same moment.
        service.clock.advance(2);
        const { seq } = await history.readTip();
        if (kind === "sale") await move(-Math.min(size, shelf));
        else if (kind === "delivery") await move(size);
        else if (kind === "undo") await undo();
        else if (kind === "hear") heard[size] = seq;
        // A count stays in the browser until the response arrives, so it may be applied again.
        else if (kind === "apply") await apply(counts[size]);
        else {
          counts[size] = { amount: shelf, seq: heard[size]!, time: service.clock.now() };
          if (heard[size]! < seq) seen.late += 1;
        }
      }
      for (const count of counts) await apply(count);
    };
    await fc.assert(
      fc.asyncProperty(fc.nat(20), fc.nat(20), fc.array(step, { maxLength: 16 }), trial),
      runs(engine === "sqlite" ? 200 : 60),
    );
    for (const times of Object.values(seen)) expect(times).toBeGreaterThan(5);
  });
});
