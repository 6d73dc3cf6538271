import { expect, test } from "bun:test";
import fc from "fast-check";
import { undoStore } from "../../src/domain/history/undo.ts";
import { undoTogether } from "../../src/domain/history/undo-together.ts";
import { startTestService } from "../support/service.ts";

const pets = [1n, 2n, 3n];
const change = fc.record({
  petId: fc.constantFrom(...pets),
  amount: fc.nat(9),
  status: fc.constantFrom("available" as const, "sold" as const),
});

test("after an undo of a request or of a period with nothing after it, the stock is as before", async () => {
  const service = await startTestService();
  await service.addPets(...pets.map((petId) => ({ petId, quantity: 3 })));
  const { inventory } = service.store;
  const till = (await service.issueKey()).id;
  const stocks = async () =>
    (await inventory.entriesAfter(null, 9)).map(({ quantity, status }) => ({ quantity, status }));
  let requests = 0;
  const commit = (changes: readonly fc.TypeOfArbitrary<typeof change>[], keyId: string | null) =>
    inventory.commit([
      {
        changes: changes.map((one) => ({ kind: "set", reason: null, ...one })),
        cause: "api",
        keyId,
        requestId: `req_${++requests}`,
      },
    ]);
  const units = fc.array(fc.array(change, { minLength: 1, maxLength: 5 }), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(units, fc.array(change, { maxLength: 3 }), async (batches, others) => {
      if (others.length > 0) await commit(others, null);
      service.clock.advance(1_000);
      const from = service.clock.now();
      const before = [await stocks()];
      for (const batch of batches) {
        await commit(batch, till);
        before.push(await stocks());
      }
      const options = { isDryRun: false, includesChanged: false, petsMax: 9 };
      const actor = { keyId: null, requestId: "req_undo" };
      const store = undoStore(service.store);
      await undoTogether(store, { requestId: `req_${requests}` }, { ...options, actor });
      expect(await stocks()).toEqual(before.at(-2)!);
      // The changes that are undone already are not taken back again.
      const period = { keyId: till, from, to: from + 1 };
      await commit(batches[0]!, till);
      await undoTogether(store, { requestId: `req_${requests}` }, { ...options, actor });
      expect(await stocks()).toEqual(before.at(-2)!);
      expect(
        await undoTogether(store, period, { ...options, isDryRun: true, actor }),
      ).toBeDefined();
    }),
    { numRuns: 30 },
  );
  await service.stop();
});
