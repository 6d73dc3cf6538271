import { expect, test } from "bun:test";
import { createPace } from "../../src/domain/webhooks/pace.ts";

const monotonicMs = () => performance.now();

test("deliveries rest for twice as long as they work, one after the other", async () => {
  const pace = createPace(monotonicMs, () => 7);
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
  expect(performance.now() - started).toBeGreaterThanOrEqual(79);
  expect(order).toEqual([1, 2, 3, 4]);
});

test("deliveries rest for nine times as long while many changes are committed", async () => {
  // Two changes per millisecond.
  const pace = createPace(monotonicMs, () => Math.floor(performance.now() * 2));
  await Bun.sleep(110);
  const started = performance.now();
  pace.spend(10);
  await pace.turn();
  expect(performance.now() - started).toBeGreaterThanOrEqual(89);
});

test("a pace that nobody has used for a while does not make up for it", async () => {
  const pace = createPace(monotonicMs, () => 7);
  pace.spend(1);
  await Bun.sleep(20);
  pace.spend(20);
  const started = performance.now();
  await pace.turn();
  expect(performance.now() - started).toBeGreaterThanOrEqual(38);
});
