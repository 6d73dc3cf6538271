import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../support/properties/runs.ts";
import { engines, startTestService, type TestService } from "../support/service.ts";
import { unitOf } from "../support/units.ts";

/**
 * A shop with one shelf, two people who count it, and tills that sell from it. The store begins with a
 * wrong number. Whoever applies a count last, and whatever happened in between, the store must then have
 * what is on the shelf.
 */

interface Count {
  readonly amount: number;
  /** The end of the ledger, or the time if the device had no connection. */
  readonly seq: number | undefined;
  readonly at: number;
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("sale"), size: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delivery"), size: fc.nat(9) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("count", "offline"),
      size: fc.constantFrom(0, 1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("apply"), size: fc.constantFrom(0, 1) }) },
);

describe.each(engines)("counts on %s", (engine) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(engine);
  });
  afterAll(() => service.stop());
  let petId = 0n;

  test("the store ends with what is on the shelf, however sales and counts of two people interleave", async () => {
    let applied = 0;
    const trial = async (
      shelf: number,
      recorded: number,
      steps: readonly { kind: string; size: number }[],
    ) => {
      const { inventory, history } = service.store;
      petId += 1n;
      await service.addPets({ petId, quantity: recorded });
      const devices: (Count | undefined)[] = [undefined, undefined];
      let isCorrected = shelf === recorded;
      const move = async (amount: number) => {
        const { outcomes } = await inventory.commit([unitOf({ petId, kind: "add", amount })]);
        // A till refuses to sell what the store does not have.
        if (outcomes[0]!.kind === "stored") shelf += amount;
      };
      const apply = async (device: number) => {
        const count = devices[device];
        if (!count) return;
        const seq = count.seq ?? (await history.seqAt(count.at));
        const change = {
          petId,
          kind: "count",
          amount: count.amount,
          countedAt: { epoch: undefined, seq },
        } as const;
        const { outcomes } = await inventory.commit([unitOf(change)]);
        expect(outcomes[0]).toMatchObject({ kind: "stored", entries: [{ quantity: shelf }] });
        devices[device] = undefined;
        isCorrected = true;
        applied += 1;
      };
      for (const { kind, size } of steps) {
        // No two steps happen at the same moment.
        service.clock.advance(2);
        if (kind === "sale") await move(-Math.min(size, shelf));
        else if (kind === "delivery") await move(size);
        else if (kind === "apply") await apply(size);
        else {
          const { seq, at } = await history.readTip();
          devices[size] = { amount: shelf, seq: kind === "count" ? seq : undefined, at };
        }
      }
      for (const device of [0, 1]) await apply(device);
      const { entry } = (await history.findEntry(petId))!;
      if (isCorrected) expect(entry.quantity).toBe(shelf);
    };
    await fc.assert(
      fc.asyncProperty(fc.nat(20), fc.nat(20), fc.array(step, { maxLength: 14 }), trial),
      runs(engine === "sqlite" ? 150 : 60),
    );
    expect(applied).toBeGreaterThan(50);
  });
});
