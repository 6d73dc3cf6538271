import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { issueOperator } from "../support/admin/operators.ts";
import { createTestClock, testStart } from "../support/clock.ts";
import { expectError, expectUnchanged } from "../support/responses.ts";
import { engines, startTestService, type TestResponse } from "../support/service.ts";

const hourMs = 3_600_000;

/** A shelf with 20 of pet 7, in a store whose clock is this far ahead of that of the service. */
async function openShelf(engine: (typeof engines)[number], aheadMs: number) {
  const clock = createTestClock();
  const databaseClock = createTestClock(testStart + aheadMs);
  const shop = await startTestService(engine, {}, {}, { clock, databaseClock });
  const operator = (await issueOperator(shop)).text;
  const key = (await shop.issueKey()).text;
  await shop.addPets({ petId: 7n, quantity: 20 });
  const post = (path: string, body: unknown, as = operator) =>
    shop.call("POST", path, { key: as, body: JSON.stringify(body) });
  return {
    shop,
    pass(ms: number) {
      clock.advance(ms);
      databaseClock.advance(ms);
    },
    /** Sets the clock that rows get their times from. */
    setBy: (ms: number) => (engine === "sqlite" ? clock : databaseClock).jump(ms),
    sell: (count: number) => post("/changes", { changes: [{ petId: 7, delta: -count }] }, key),
    /** What a page is told while people count. */
    async ask() {
      const { json } = await post("~/admin/stocktakes", {});
      const { cursor, now } = json as { cursor: string; now: string };
      return { cursor, now: Date.parse(now) };
    },
    count(quantity: number, countedAt: string, time?: number) {
      const timed = time === undefined ? {} : { countedTime: new Date(time).toISOString() };
      return post("~/admin/changes", { changes: [{ petId: 7, quantity, countedAt, ...timed }] });
    },
  };
}

const quantityOf = (response: TestResponse) =>
  (response.json as { entries: { quantity: number }[] }).entries[0]!.quantity;

function expectRefused(response: TestResponse): void {
  expectError(response, "version_conflict", 1);
  expect(response.text).toContain("Count again with a connection.");
}

describe.each(engines)("the clocks of counts on %s", (engine) => {
  let shelf: Awaited<ReturnType<typeof openShelf>>;
  beforeAll(async () => {
    shelf = await openShelf(engine, 0);
  });
  afterAll(() => shelf.shop.stop());
  const nothingChanges = (work: () => Promise<void>) => expectUnchanged(shelf.shop.store, work);

  for (const aheadMs of [-2_000, 2_000]) {
    test(`a count without a connection keeps what was sold after it, with a database that is ${aheadMs} ms ahead`, async () => {
      const { shop, pass, sell, ask, count } = await openShelf(engine, aheadMs);
      const told = await ask();
      await sell(7);
      pass(500);
      // 13 are there, which the page has not heard.
      const time = told.now + 500;
      pass(500);
      await sell(2);
      pass(5_000);
      expect(quantityOf(await count(13, told.cursor, time))).toBe(11);
      await shop.stop();
    });
  }

  test("a count with a connection has a place, and no time", async () => {
    const { shop, pass, sell, ask, count } = await openShelf(engine, -1_000);
    await sell(1);
    const { cursor } = await ask();
    pass(500);
    await sell(1);
    pass(500);
    expect(quantityOf(await count(19, cursor))).toBe(18);
    await shop.stop();
  });

  test("a count of the future is refused, even if it is by little", async () => {
    const { pass, sell, ask, count } = shelf;
    const told = await ask();
    pass(1_000);
    await sell(10);
    await nothingChanges(async () => expectRefused(await count(10, told.cursor, told.now + 1_150)));
    expect(quantityOf(await count(10, told.cursor, told.now + 1_000))).toBe(10);
    await sell(-10);
  });

  test("while the clock is behind the last change, times order nothing, and positions do", async () => {
    const { pass, setBy, sell, ask, count } = shelf;
    const before = await ask();
    setBy(hourMs);
    await sell(1);
    setBy(-hourMs);
    pass(1_000);
    const told = await ask();
    expect(told.now - before.now).toBe(1_000);
    await sell(7);
    pass(1_000);
    const time = told.now + 500;
    await sell(1);
    await nothingChanges(async () => {
      expectRefused(await count(12, told.cursor, time));
      expectRefused(await count(12, before.cursor, time));
    });
    const { cursor } = await ask();
    await sell(1);
    expect(quantityOf(await count(11, cursor))).toBe(10);
    pass(hourMs);
    // A row before the count is later than it: the time is from when the clock stood behind.
    await nothingChanges(async () => expectRefused(await count(12, told.cursor, time)));
    const later = await ask();
    await sell(2);
    pass(1_000);
    expect(quantityOf(await count(8, later.cursor, later.now + 500))).toBe(8);
    await sell(-12);
  });
});
