import { afterAll, describe, expect, test } from "bun:test";
import { closeBrowser } from "../support/browser.ts";
import { createRunningClock } from "../support/clock.ts";
import { openConsole } from "../support/console.ts";
import { type Engine, engines, startTestService } from "../support/service.ts";
import { placed, rowOf, shows, toldBy } from "../support/stock-view.ts";
import { pass } from "../support/until.ts";

afterAll(closeBrowser);

const hourMs = 3_600_000;

/** Ada counts pet 1, of which the store and the shelf have 20. The clocks of service, database and browser differ. */
async function openCount(engine: Engine, ahead: { database: number; browser: number }) {
  const [clock, databaseClock] = [createRunningClock(), createRunningClock()];
  databaseClock.jump(ahead.database);
  const shop = await startTestService(engine, {}, {}, { clock, databaseClock });
  const key = (await shop.issueKey()).text;
  await shop.addPets({ petId: 1n, name: "Luna", quantity: 20 });
  const { page, context } = await openConsole(shop, "/stock/count");
  await context.addInitScript((ms) => {
    const { now } = Date;
    Object.assign(window, { aheadMs: ms });
    Date.now = () => now() + (window as unknown as { aheadMs: number }).aheadMs;
  }, ahead.browser);
  await page.reload();
  await page.locator("[data-connection=live]").waitFor();
  await toldBy(page);
  return {
    page,
    context,
    ledgerClock: engine === "sqlite" ? clock : databaseClock,
    async sell(count = 1) {
      const body = JSON.stringify({ changes: [{ petId: 1, delta: -count }] });
      expect((await shop.call("POST", "/changes", { key, body })).status).toBe(200);
    },
    async count(quantity: number) {
      await rowOf(page, 1).waitFor();
      await page.fill("#count-id", "1");
      await page.keyboard.press("Enter");
      await page.locator("#count-quantity:focus").waitFor();
      await page.keyboard.type(`${quantity}\n`);
      await rowOf(page, 1).locator(".cell-counted").getByText(String(quantity)).waitFor();
    },
    /** Applies the count, also if it differs in nothing. */
    async apply() {
      await page.getByRole("button", { name: "Review and apply…" }).click();
      await page.getByLabel("Also record counts without a difference").check();
      await page.getByRole("button", { name: /^Apply / }).click();
    },
    /** Waits for the message, and closes it, so that the next one is another. */
    applied: () =>
      page
        .locator(".toast", { hasText: "The count is in the ledger" })
        .getByRole("button", { name: "Close" })
        .click(),
    async quantity() {
      const { json } = await shop.call("GET", "/inventory/1", { key });
      return (json as { quantity: number }).quantity;
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      await shop.stop();
    },
  };
}

describe.each(engines)("the clocks of counts in the browser, on %s", (engine) => {
  for (const [database, browser] of [
    [-1_000, hourMs],
    [2_000, -hourMs],
  ] as const)
    test(`a database that is ${database} ms ahead and a browser that is ${browser} ms ahead leave what is on the shelf`, async () => {
      await using shelf = await openCount(engine, { database, browser });
      const { page, context, sell, count, apply, applied } = shelf;
      await sell(3);
      await placed(page, () => count(17));
      await sell(1);
      await apply();
      await applied();
      expect(await shelf.quantity()).toBe(16);
      await page.goBack();
      await page.locator("[data-connection=live]").waitFor();
      await toldBy(page);
      await context.setOffline(true);
      await sell(7);
      await pass(100);
      await count(9);
      await pass(100);
      await sell(2);
      await context.setOffline(false);
      await page.locator("[data-connection=live]").waitFor();
      await toldBy(page);
      await apply();
      await applied();
      expect(await shelf.quantity()).toBe(7);
    });

  test("a count whose time orders nothing stays, and is made again with a connection", async () => {
    await using shelf = await openCount(engine, { database: 0, browser: 0 });
    const { page, context, ledgerClock, sell, count, apply, applied } = shelf;
    ledgerClock.jump(hourMs);
    await sell(1);
    ledgerClock.jump(-hourMs);
    await shows(page, 1, "19");
    await context.setOffline(true);
    await sell(4);
    await count(15);
    await context.setOffline(false);
    await page.locator("[data-connection=live]").waitFor();
    await toldBy(page);
    await sell(1);
    await apply();
    await page
      .getByText(/Count again: Luna\. .* Count again with a connection\./)
      .first()
      .waitFor();
    expect(await shelf.quantity()).toBe(14);
    await page.getByRole("cell", { name: "Count again with a connection" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Counted 1", exact: true }).waitFor();
    // Not even when the clock has passed the time of the last change.
    ledgerClock.jump(2 * hourMs);
    await apply();
    await page
      .getByText(/Count again: Luna\./)
      .first()
      .waitFor();
    expect(await shelf.quantity()).toBe(14);
    await page.getByRole("button", { name: "Cancel" }).click();
    await count(13);
    await apply();
    await applied();
    expect(await shelf.quantity()).toBe(13);
  });

  test("a clock of the browser that is set while it has no connection places no count", async () => {
    await using shelf = await openCount(engine, { database: 0, browser: 0 });
    const { page, context, sell, count, apply } = shelf;
    await context.setOffline(true);
    await page.evaluate((ms) => Object.assign(window, { aheadMs: ms }), -hourMs);
    await sell(4);
    await count(16);
    await context.setOffline(false);
    await page.locator("[data-connection=live]").waitFor();
    await toldBy(page);
    await apply();
    await page.getByText("Count again: Luna. A clock was set since.").first().waitFor();
    expect(await shelf.quantity()).toBe(16);
  });
});
