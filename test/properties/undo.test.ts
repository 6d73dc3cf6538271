import { expect, test } from "bun:test";
import fc from "fast-check";
import { undoTogether } from "../../src/domain/catalogue/undo-together.ts";
import type { Change } from "../../src/domain/ledger/ledger.ts";
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
  const commit = (
    changes: readonly Pick<Change, "petId" | "amount" | "status">[],
    keyId: string | null,
  ) =>
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
    fc.asyncProperty(units, change, fc.boolean(), async (batches, other, isPeriod) => {
      await commit([other], null);
      service.clock.advance(1_000);
      const from = service.clock.now();
      const before = [await stocks()];
      for (const batch of batches) {
        await commit(batch, till);
        before.push(await stocks());
      }
      const period = { keyId: till, from, to: from + 1 };
      const selection = isPeriod ? period : { requestId: `req_${requests}` };
      await undoTogether(service.store, selection, {
        ...{ isDryRun: false, force: false },
        actor: { keyId: null, requestId: "req_undo" },
      });
      expect(await stocks()).toEqual(isPeriod ? before[0]! : before.at(-2)!);
    }),
    { numRuns: 40 },
  );
  await service.stop();
});
