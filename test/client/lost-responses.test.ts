import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ClientOptions, isApiError, PetstoreClient } from "../../client/src/index.ts";
import { CuttingProxy } from "../support/client/cutting-proxy.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

// The client sends its requests through a proxy that loses responses which the service has sent: the
// change is durable, and the client does not know.

/** How many bytes of the response arrive, by the place where the connection is cut. */
const positions = { "before the response": 0, "in its head": 20, "before its last byte": -1 };

for (const engine of [surfaceEngine]) {
  describe(`a write whose response is lost, on ${engine}`, () => {
    let service: TestService;
    let proxy: CuttingProxy;
    let apiKey: string;

    beforeAll(async () => {
      service = await startTestService(engine);
      proxy = await CuttingProxy.start(service.baseUrl);
      await service.addPets({ petId: 1n, quantity: 10 }, { petId: 2n, quantity: 10 });
      apiKey = (await service.issueKey()).text;
    });
    afterAll(async () => {
      await proxy[Symbol.asyncDispose]();
      await service.stop();
    });

    const createClient = (options: Partial<ClientOptions> = {}) =>
      new PetstoreClient({ baseUrl: proxy.baseUrl, apiKey, backoffBaseMs: 0, ...options });
    const otherTill = () => new PetstoreClient({ baseUrl: service.baseUrl, apiKey });
    const quantityOf = async (petId: bigint) => (await otherTill().getInventory(petId)).quantity;

    /** Runs the work; returns the quantities after each change of the pet that it made, in order. */
    async function changesDuring(petId: bigint, work: () => Promise<unknown>) {
      const { seq } = await otherTill().ledgerHead();
      await work();
      const quantities: (number | undefined)[] = [];
      for await (const row of otherTill().changes({ after: seq })) {
        if (row.petId === petId) quantities.push(row.after?.quantity);
      }
      expect(proxy.cutsLeft).toBe(0);
      return quantities;
    }

    // Where the connection is cut does not matter to the engine.
    const cuts = Object.entries(positions).slice(0, engine === "sqlite" ? 3 : 1);
    for (const [position, bytes] of cuts) {
      test(`is retried and applied once: cut ${position}`, async () => {
        const changes = await changesDuring(1n, async () => {
          await otherTill().updateInventory(1n, { quantity: 10 });
          proxy.cutNext({ bytes });
          const { value, response } = await createClient()
            .updateInventory(1n, { quantity: 7 })
            .withResponse();
          expect(value.quantity).toBe(7);
          expect(response.headers.get("idempotent-replayed")).toBe("true");
        });
        expect(changes).toEqual([10, 7]);
      });

      test(`does not revert a newer count of another till: cut ${position}`, async () => {
        const changes = await changesDuring(1n, async () => {
          const meanwhile = () => otherTill().updateInventory(1n, { quantity: 3 });
          proxy.cutNext({ bytes, meanwhile });
          const entry = await createClient().updateInventory(1n, { quantity: 8 });
          expect(entry.quantity).toBe(8);
        });
        expect(changes).toEqual([8, 3]);
        expect(await quantityOf(1n)).toBe(3);
      });

      test(`is applied once if it is a batch: cut ${position}`, async () => {
        await otherTill().updateInventory(2n, { quantity: 10 });
        const changes = await changesDuring(2n, async () => {
          const meanwhile = () => otherTill().applyChanges([{ petId: 2n, delta: -1 }]);
          proxy.cutNext({ bytes, meanwhile });
          proxy.cutNext({ bytes });
          const entries = await createClient().applyChanges([
            { petId: 2n, delta: -2 },
            { petId: 2n, delta: -3 },
          ]);
          expect(entries.map(({ quantity }) => quantity)).toEqual([8, 5]);
        });
        expect(changes).toEqual([8, 5, 4]);
      });
    }

    test("is retried and applied once: timed out", async () => {
      const timeouts: (() => void)[] = [];
      const clock = {
        now: () => performance.now(),
        sleep: async (ms: number) => {
          if (ms === 4000) await new Promise<void>((resolve) => timeouts.push(resolve));
        },
      };
      const changes = await changesDuring(2n, async () => {
        proxy.cutNext({ bytes: 5, isHeld: true, meanwhile: () => timeouts[0]?.() });
        const client = createClient({ clock, timeoutMs: 4000 });
        await client.updateInventory(2n, { quantity: 6 });
      });
      expect(changes).toEqual([6]);
    });

    test("is no conflict with itself: a conditional update is acknowledged by the retry", async () => {
      const { etag, quantity } = await otherTill().getInventory(1n);
      const changes = await changesDuring(1n, async () => {
        proxy.cutNext({ bytes: 0 });
        const update = { quantity: quantity + 1 };
        const entry = await createClient().updateInventory(1n, update, { ifMatch: etag });
        expect(entry.quantity).toBe(quantity + 1);
      });
      expect(changes).toEqual([quantity + 1]);
    });

    test("is applied once if the program repeats it after a crash and a restart of the service", async () => {
      await otherTill().updateInventory(2n, { quantity: 10 });
      const sale = [{ petId: 2n, delta: -4 }];
      const idempotencyKey = `sale-of-${engine}`;
      proxy.cutNext({ bytes: 0 });
      const lost = createClient().applyChanges(sale, { idempotencyKey, attemptsMax: 1 });
      await rejectionOf(lost);
      await service.restart();
      await otherTill().applyChanges([{ petId: 2n, delta: -1 }]);
      const { value, response } = await otherTill()
        .applyChanges(sale, { idempotencyKey })
        .withResponse();
      expect(value[0]?.quantity).toBe(6);
      expect(response.headers.get("idempotent-replayed")).toBe("true");
      expect(await quantityOf(2n)).toBe(5);
    });

    test("keeps its key: the same key with another write is an error, and nothing changes", async () => {
      const before = await quantityOf(1n);
      const options = { idempotencyKey: `count-of-${engine}` };
      await otherTill().updateInventory(1n, { quantity: before }, options);
      const other = otherTill().updateInventory(1n, { quantity: before + 1 }, options);
      const error = await rejectionOf(other);
      expect(isApiError(error) && error).toMatchObject({
        code: "idempotency_key_reused",
        status: 422,
      });
      expect(await quantityOf(1n)).toBe(before);
    });
  });
}
