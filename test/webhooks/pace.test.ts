import { expect, test } from "bun:test";
import { createPace } from "../../src/domain/webhooks/pace.ts";

test("deliveries rest for four times as long as they work, one after the other", async () => {
  const pace = createPace(() => performance.now());
  const started = performance.now();
  const order: number[] = [];
  await Promise.all(
    [1, 2, 3, 4].map(async (id) => {
      await pace.turn();
      order.push(id);
      pace.spend(10);
    }),
  );
  await pace.turn();
  expect(performance.now() - started).toBeGreaterThanOrEqual(159);
  expect(order).toEqual([1, 2, 3, 4]);
});

test("a pace that nobody has used for a while does not make up for it", async () => {
  const pace = createPace(() => performance.now());
  pace.spend(1);
  await Bun.sleep(20);
  pace.spend(10);
  const started = performance.now();
  await pace.turn();
  expect(performance.now() - started).toBeGreaterThanOrEqual(38);
});
