import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { isDoubtful } from "../../src/console/stock/quantities.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import { createRunningClock } from "../support/clock.ts";
import {
  type ConsolePage,
  consoleUrl,
  expectNoComplaints,
  fitsWidth,
  openConsole,
} from "../support/console.ts";
import { engines, startTestService, type TestService } from "../support/service.ts";
import { changeQuantity, lastLedgerRows, rowOf, shows } from "../support/stock-view.ts";

/** Counting with a scanner: whatever is not plainly a count is not recorded before somebody looks. */

let service: TestService;
let opened: ConsolePage;
let page: Page;
let till: string;
const refusals: RegExp[] = [];

beforeAll(async () => {
  service = await startTestService();
  till = (await service.issueKey({ name: "Till 2" })).text;
  await service.addPets(
    { petId: 1n, name: "Rex", quantity: 38 },
    { petId: 12n, name: "Luna", quantity: 70 },
    { petId: 13n, name: "Polly", quantity: 10 },
  );
  opened = await openConsole(service, "/stock/count");
  page = opened.page;
  await page.addInitScript(() => {
    const { start } = OscillatorNode.prototype;
    OscillatorNode.prototype.start = function (...args) {
      document.documentElement.dataset.sounds = "played";
      start.apply(this, args);
    };
  });
});
afterAll(async () => {
  expectNoComplaints(opened, service, refusals);
  await opened.context.close();
  await closeBrowser();
  await service.stop();
});

/** Every test begins with nothing counted, and the focus in Id. */
beforeEach(async () => {
  // The view itself may store its counts at any time, so another page of the service clears them.
  await page.goto(new URL("/healthz", service.baseUrl).href);
  await page.evaluate(() => localStorage.clear());
  await page.goto(consoleUrl(service, "/stock/count"));
  await page.locator("#count-id:focus").waitFor();
});

/** Types as a scanner does: without a pause, with Enter at the end. */
const scan = (text: string) => page.keyboard.type(`${text}\n`, { delay: 0 });
const stop = () => page.locator(".count-stop");
const counted = (count: number) =>
  page.getByRole("button", { name: `Counted ${count}`, exact: true }).waitFor();
const hasSounded = () => page.evaluate(() => document.documentElement.dataset.sounds !== undefined);

test("an unknown id stops the count with a sound, and nothing that is scanned or typed meanwhile counts", async () => {
  await scan("999");
  await stop().getByText("No pet has the id or barcode 999.").waitFor();
  expect(await hasSounded()).toBe(true);
  expect(await seriousFindings(page)).toEqual([]);
  for (const text of ["1", "12", "5", "/12"]) await scan(text);
  expect(await stop().isVisible()).toBe(true);
  expect(await page.inputValue("#count-id")).toBe("999");
  expect(await page.inputValue("[type=search]")).toBe("");
  await counted(0);
  await page.keyboard.press("Escape");
  await scan("13");
  await scan("9");
  await counted(1);
  await shows(page, 13, "9−1");
  expect(await page.locator("#count-id:focus").inputValue()).toBe("");
});

test("a normal count asks nothing: id, count, next", async () => {
  for (const [petId, count] of [
    ["1", "37"],
    ["0012", "70"],
    ["13", "0"],
  ]) {
    await scan(petId!);
    await scan(count!);
  }
  await counted(3);
  await shows(page, 1, "37−1");
  expect(await hasSounded()).toBe(false);
});

test.each([
  ["4006381333931", "4,006,381,333,931"],
  ["12", "12"],
  ["5", "5"],
  ["00000070", "70"],
])("the doubtful count %s of Luna is recorded only when it is confirmed", async (text, shown) => {
  await scan("12");
  await scan(text);
  await stop().getByText(`Luna: is the count ${shown}? The stock is 70.`).waitFor();
  expect(await hasSounded()).toBe(true);
  // The Enter of a scanner confirms nothing.
  await scan("13");
  await scan("10");
  await counted(0);
  await page.keyboard.press("Escape");
  await page.locator("#count-quantity:focus").waitFor();
  await scan(text);
  await stop()
    .getByRole("button", { name: `Record ${shown}` })
    .focus();
  await page.keyboard.press("Enter");
  await counted(1);
  await shows(page, 12, shown);
  await page.locator("#count-id:focus").waitFor();
});

test("what is no count at all is refused with a sound, and an Enter too many is not", async () => {
  await scan("13");
  await scan("");
  await page.getByText("Enter a whole number").waitFor();
  expect(await hasSounded()).toBe(false);
  await scan("(01)04006381333931");
  await stop().getByText("is not a count").waitFor();
  expect(await hasSounded()).toBe(true);
  await scan("12");
  await counted(0);
  await page.setViewportSize({ width: 320, height: 700 });
  expect(await fitsWidth(page)).toBe(true);
  await page.setViewportSize({ width: 1280, height: 800 });
  await stop().getByRole("button", { name: "Go on" }).click();
  await scan("9");
  await counted(1);
});

test("a pet that somebody removes while it is counted stops the count", async () => {
  await service.addPets({ petId: 20n, name: "Milo", quantity: 2 });
  await rowOf(page, 20).waitFor();
  await scan("20");
  const { text: key } = await issueOperator(service, "Grace");
  expect((await service.call("DELETE", "~/admin/pets/20", { key })).status).toBe(204);
  await stop().getByText("Pet 20 was removed.").waitFor();
  await scan("2");
  await page.keyboard.press("Escape");
  await page.locator("#count-id:focus").waitFor();
  await counted(0);
});

test("a count that would make the stock negative by now is not applied, and is to be made again", async () => {
  await scan("13");
  await scan("2");
  await counted(1);
  service.clock.advance(60_000);
  await changeQuantity(service, till, 13, 5);
  await shows(page, 13, "5");
  await page.getByRole("button", { name: "Review and apply…" }).click();
  await page.getByRole("button", { name: "Apply 1 difference" }).click();
  await page
    .getByText("counted 2, 5 fewer since. The stored quantity is 5. Count again.")
    .waitFor();
  refusals.push(/status of 409/);
  await counted(0);
  expect(await lastLedgerRows(service, till, 1)).toMatchObject([{ keyName: "Till 2" }]);
});

describe.each(engines)("while the shop is open, on %s", (engine) => {
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
    await ada.page.reload();
    /** The page knows the clock of the service as soon as it has told what was counted. */
    const told = () => ada.page.waitForResponse((one) => one.url().endsWith("/admin/stocktakes"));
    await told();
    const count = async (one: Page, petId: number) => {
      await rowOf(one, petId).waitFor();
      await one.fill("#count-id", String(petId));
      await one.keyboard.press("Enter");
      await one.locator("#count-quantity:focus").waitFor();
      await one.keyboard.type(`${shelf.get(petId)}\n`);
      await rowOf(one, petId).locator(".cell-counted .badge").first().waitFor();
    };
    for (const petId of [1, 2, 3]) {
      await count(ada.page, petId);
      await take(petId);
      await take(8);
    }
    await count(grace.page, 3);
    await take(3);
    // Each sees how far the other is.
    await ada.page.getByText("1 of 8 counted by Grace.").waitFor();
    await grace.page.getByText("3 of 8 counted by Ada.").waitFor();
    await rowOf(grace.page, 1).getByText("Ada").waitFor();
    expect(await seriousFindings(grace.page)).toEqual([]);
    // The page hears of a sale before the count only after the count.
    await ada.page.evaluate(() => Object.assign(window, { held: [] }));
    await take(5);
    await count(ada.page, 5);
    await shows(ada.page, 5, "−4");
    await ada.page.evaluate(() => {
      const { held } = window as { held?: (() => void)[] };
      Object.assign(window, { held: undefined });
      for (const handle of held!) handle();
    });
    await shows(ada.page, 5, "−3");
    await take(5);
    // Without a network, one is sold before a count and one after it, and the page is closed.
    await ada.context.setOffline(true);
    await take(4);
    await count(ada.page, 4);
    await take(4);
    await ada.page.close();
    await ada.context.setOffline(false);
    const reopened = await ada.context.newPage();
    await reopened.goto(consoleUrl(shop, "/stock/count"));
    await reopened.getByRole("button", { name: "Counted 5", exact: true }).waitFor();
    await reopened.getByRole("button", { name: "Review and apply…" }).click();
    await reopened.getByText("Also counted by Grace").waitFor();
    expect(await seriousFindings(reopened)).toEqual([]);
    await reopened.setViewportSize({ width: 390, height: 800 });
    expect(await fitsWidth(reopened)).toBe(true);
    await take(1);
    await reopened.getByRole("button", { name: "Apply 5 differences" }).click();
    await reopened.getByText("The count is in the ledger").waitFor();
    await take(3);
    await grace.page.getByRole("button", { name: "Review and apply…" }).click();
    await grace.page.getByRole("button", { name: "Apply 1 difference" }).click();
    await grace.page.getByText("The count is in the ledger").waitFor();
    for (const petId of [1, 2, 3, 4, 5])
      expect([petId, await stockOf(petId)]).toEqual([petId, shelf.get(petId)!]);
    expect(await stockOf(8)).toBe(shelf.get(8)! + 3);
    await ada.context.close();
    await grace.context.close();
  });
});

test("a count is doubtful with 8 digits, with its own id, or more than 10 and more than half away", () => {
  const counts: readonly (readonly [text: string, petId: string, stock: number, boolean])[] = [
    ["12345678", "1", 12_345_678, true],
    ["00000012", "1", 12, true],
    ["1,234,567", "1", 1_234_000, false],
    ["12", "12", 14, true],
    ["12", "12", 12, false],
    ["5", "1", 38, true],
    ["0", "1", 10, false],
    ["11", "1", 0, true],
    ["10", "1", 0, false],
    ["151", "1", 100, true],
    ["150", "1", 100, false],
  ];
  for (const [text, petId, stock, expected] of counts) {
    expect({ text, petId, stock, isDoubtful: isDoubtful(text, petId, stock) }).toEqual({
      text,
      petId,
      stock,
      isDoubtful: expected,
    });
  }
});
