import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import { createRunningClock } from "../support/clock.ts";
import { consoleUrl, fitsWidth, openConsole } from "../support/console.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { placed, rowOf, shows, toldBy } from "../support/stock-view.ts";

afterAll(closeBrowser);

describe.each([surfaceEngine])("while the shop is open, on %s", (engine) => {
  let shop: TestService;
  let key: string;
  beforeAll(async () => {
    shop = await startTestService(engine, {}, {}, { clock: createRunningClock() });
    key = (await shop.issueKey({ name: "Till 1" })).text;
  });
  afterAll(() => shop.stop());

  const sell = async (petId: number, count = 1) => {
    const body = JSON.stringify({ changes: [{ petId, delta: -count }] });
    expect((await shop.call("POST", "/changes", { key, body })).status).toBe(200);
  };
  const stockOf = async (petId: number) => {
    const { json } = await shop.call("GET", `/inventory/${petId}`, { key });
    return (json as { quantity: number }).quantity;
  };

  test("counts of two people, with sales, late news, a lost network and a closed page, give the stock on the shelf", async () => {
    const shelf = new Map(Array.from({ length: 8 }, (_, at) => [at + 1, 20 + at] as const));
    // The store has three more of each pet than the shelf.
    await shop.addPets(...[...shelf].map(([id, n]) => ({ petId: BigInt(id), quantity: n + 3 })));
    const take = async (petId: number) => {
      shelf.set(petId, shelf.get(petId)! - 1);
      await sell(petId);
    };
    const ada = await openConsole(shop, "/stock/count", { operator: "Ada" });
    const grace = await openConsole(shop, "/stock/count", { operator: "Grace" });
    // While `held` is a list, what the service sends waits in it.
    await ada.context.addInitScript(() => {
      const { addEventListener } = EventSource.prototype;
      const holding = (type: string, handle: (event: Event) => void, source: EventSource) =>
        addEventListener.call(source, type, (event: Event) => {
          const { held } = window as { held?: (() => void)[] };
          if (held) held.push(() => handle(event));
          else handle(event);
        });
      EventSource.prototype.addEventListener = function (type: string, handle: unknown) {
        holding(type, handle as (event: Event) => void, this);
      };
    });
    const hold = () => ada.page.evaluate(() => Object.assign(window, { held: [] }));
    const release = () =>
      ada.page.evaluate(() => {
        const { held } = window as { held?: (() => void)[] };
        Object.assign(window, { held: undefined });
        for (const handle of held!) handle();
      });
    await ada.context.route("**/admin/stocktakes", (route) => route.abort());
    await ada.page.reload();
    await ada.page.locator("[data-connection=live]").waitFor();
    const count = async (one: Page, petId: number) => {
      await rowOf(one, petId).waitFor();
      await one.fill("#count-id", String(petId));
      await one.keyboard.press("Enter");
      await one.locator("#count-quantity:focus").waitFor();
      await one.keyboard.type(`${shelf.get(petId)}\n`);
      await rowOf(one, petId).locator(".cell-counted .badge").first().waitFor();
    };
    // The page hears of a sale before the count only after the count, and does not know the clock yet.
    await hold();
    await take(6);
    await count(ada.page, 6);
    await release();
    await ada.context.unroute("**/admin/stocktakes");
    await toldBy(ada.page);
    await shows(ada.page, 6, "−3");
    await take(6);
    for (const petId of [1, 2, 3]) {
      await placed(ada.page, () => count(ada.page, petId));
      await take(petId);
      await take(8);
    }
    await placed(grace.page, () => count(grace.page, 3));
    await take(3);
    // Each sees how far the other is.
    await ada.page.getByText("1 of 8 counted by Grace.").waitFor();
    await grace.page.getByText("4 of 8 counted by Ada.").waitFor();
    await rowOf(grace.page, 1).getByText("Ada").waitFor();
    expect(await seriousFindings(grace.page)).toEqual([]);
    // A look at the clock of the service that takes long says less than those before it.
    const slow = Promise.withResolvers<void>();
    await ada.context.route("**/admin/stocktakes", (route) =>
      slow.promise.then(() => route.continue()).catch(() => {}),
    );
    await ada.page.waitForRequest("**/admin/stocktakes");
    await hold();
    await take(5);
    const hasNoPlace = ada.page.waitForEvent("requestfailed");
    await count(ada.page, 5);
    await hasNoPlace;
    await shows(ada.page, 5, "−3");
    await take(5);
    await release();
    const hasLooked = toldBy(ada.page);
    slow.resolve();
    await hasLooked;
    await ada.context.unroute("**/admin/stocktakes");
    // Without a network, one is sold before a count and one after it, and the page is closed.
    await ada.context.setOffline(true);
    await take(4);
    await count(ada.page, 4);
    await take(4);
    await ada.page.close();
    await ada.context.setOffline(false);
    const reopened = await ada.context.newPage();
    await reopened.goto(consoleUrl(shop, "/stock/count"));
    await reopened.getByRole("button", { name: "Counted 6", exact: true }).waitFor();
    await reopened.getByRole("button", { name: "Review and apply…" }).click();
    await reopened.getByText("Also counted by Grace").waitFor();
    expect(await seriousFindings(reopened)).toEqual([]);
    await reopened.setViewportSize({ width: 390, height: 800 });
    expect(await fitsWidth(reopened)).toBe(true);
    await take(1);
    await reopened.getByRole("button", { name: "Apply 6 differences" }).click();
    await reopened.getByText("The count is in the ledger").waitFor();
    await take(3);
    await grace.page.getByRole("button", { name: "Review and apply…" }).click();
    await grace.page.getByRole("button", { name: "Apply 1 difference" }).click();
    await grace.page.getByText("The count is in the ledger").waitFor();
    for (const petId of [1, 2, 3, 4, 5, 6])
      expect([petId, await stockOf(petId)]).toEqual([petId, shelf.get(petId)!]);
    expect(await stockOf(8)).toBe(shelf.get(8)! + 3);
    await ada.context.close();
    await grace.context.close();
  });
});
