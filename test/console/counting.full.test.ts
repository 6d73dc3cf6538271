import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Page, Response as PageResponse, Route } from "playwright-core";
import { issueOperator } from "../support/admin/operators.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  consoleUrl,
  expectNoComplaints,
  fitsWidth,
  openConsole,
} from "../support/console.ts";
import { scanInto, typeInto } from "../support/keys.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import {
  changeQuantity,
  lastLedgerRows,
  placed,
  rowOf,
  shows,
  toldBy,
} from "../support/stock-view.ts";

/** Counting with a scanner: whatever is not plainly a count is not recorded before somebody looks. */

let service: TestService;
let opened: ConsolePage;
let page: Page;
let till: string;
const refusals: RegExp[] = [];

beforeAll(async () => {
  service = await startTestService(surfaceEngine);
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
  const told = toldBy(page);
  await page.goto(consoleUrl(service, "/stock/count"));
  await page.locator("#count-id:focus").waitFor();
  await told;
});

const scan = (text: string) => scanInto(page, text);
const type = (text: string) => typeInto(page, text);
const stop = () => page.locator(".question");
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
  await page.getByRole("button", { name: /^Uncounted/ }).click();
  await rowOf(page, 1).waitFor({ state: "detached" });
  expect(await seriousFindings(page)).toEqual([]);
});

test.each([
  ["4006381333931", "4,006,381,333,931"],
  ["12", "12"],
  ["5", "5"],
  ["00000070", "70"],
])("the doubtful count %s of Luna is recorded only when it is confirmed", async (text, shown) => {
  await scan("12");
  await type(text);
  await stop().getByText(`Luna: is the quantity ${shown}? The stock is 70.`).waitFor();
  expect(await hasSounded()).toBe(true);
  // The Enter of a scanner confirms nothing.
  await scan("13");
  await scan("10");
  await counted(0);
  await page.keyboard.press("Escape");
  await page.locator("#count-quantity:focus").waitFor();
  await type(text);
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
  await type("(01)04006381333931");
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

/** Adds pets of which the store has 10, and waits until the page shows them. */
async function addTen(...petIds: number[]): Promise<void> {
  const added = petIds.map((id) => ({ petId: BigInt(id), name: `Pet ${id}`, quantity: 10 }));
  await service.addPets(...added);
  for (const petId of petIds) await rowOf(page, petId).waitFor();
}

/** Counts a pet. What is sold from then on was sold after the count. */
async function count(petId: number, quantity: number): Promise<void> {
  await scan(String(petId));
  await placed(page, () => scan(String(quantity)));
}

async function apply(button: string): Promise<void> {
  await page.getByRole("button", { name: "Review and apply…" }).click();
  await page.getByRole("button", { name: button }).click();
}

test("counts that would make the stock negative by now are to be made again, and the others are applied", async () => {
  await addTen(21, 22, 23);
  for (const petId of [21, 22, 23]) await count(petId, 2);
  await counted(3);
  service.clock.advance(60_000);
  for (const petId of [21, 22]) await changeQuantity(service, till, petId, 5);
  await shows(page, 22, "5");
  const statuses: number[] = [];
  const note = (one: PageResponse) => one.url().endsWith("/changes") && statuses.push(one.status());
  page.on("response", note);
  await apply("Apply 3 differences");
  await page
    .getByText(
      /Count again: Pet 21, Pet 22\. .*counted 2, 5 fewer since. The stored quantity is 5\. Count again\. Also refused: Pet 22\./,
    )
    .waitFor();
  // One answer names both pets.
  expect(statuses).toEqual([409, 200]);
  page.off("response", note);
  refusals.push(/status of 409/);
  await counted(0);
  expect(await lastLedgerRows(service, till, 2)).toMatchObject([
    { petId: 22, keyName: "Till 2" },
    { petId: 23, after: { quantity: 2 } },
  ]);
});

test("a doubtful count is that of the moment at which it was typed, not confirmed", async () => {
  await addTen(24);
  await count(24, 30);
  service.clock.advance(60_000);
  await changeQuantity(service, till, 24, 9);
  await shows(page, 24, "9");
  await stop().getByRole("button", { name: "Record 30" }).click();
  await apply("Apply 1 difference");
  await page.getByText("The count is in the ledger").waitFor();
  expect(await lastLedgerRows(service, till, 1)).toMatchObject([
    { after: { quantity: 29 }, reason: "Stocktake (counted 30, 1 fewer since)" },
  ]);
});

test("what is counted while others are applied stays, and what may not be stored is applied again", async () => {
  await addTen(25, 26, 27);
  await count(25, 9);
  await count(26, 9);
  const sent = Promise.withResolvers<void>();
  const isCounted = Promise.withResolvers<void>();
  const first = async (route: Route) => {
    sent.resolve();
    await isCounted.promise;
    await route.continue();
  };
  await page.route("**/admin/changes", first, { times: 1 });
  await apply("Apply 2 differences");
  await sent.promise;
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.locator("#count-id").focus();
  await count(26, 8);
  await count(27, 8);
  service.clock.advance(60_000);
  isCounted.resolve();
  await page.getByText("The count is in the ledger: 2 entries").waitFor();
  await counted(2);
  // The service stores them, and its response is lost.
  const second = async (route: Route) => {
    await route.fetch();
    await route.fulfill({ status: 500 });
  };
  await page.route("**/admin/changes", second, { times: 1 });
  refusals.push(/status of 500/);
  await apply("Apply 2 differences");
  await page.getByRole("dialog").getByText("status 500").waitFor();
  await changeQuantity(service, till, 27, 5);
  await page.reload();
  await counted(2);
  await apply("Apply 2 differences");
  await page.getByText("The count is in the ledger: 2 entries").waitFor();
  expect(await lastLedgerRows(service, till, 2)).toMatchObject([
    { petId: 26, after: { quantity: 8 }, reason: "Stocktake (counted 8)" },
    { petId: 27, after: { quantity: 5 }, reason: "Stocktake (counted 8, 3 fewer since)" },
  ]);
});

test("two windows of a person count together, even if one hears late of the other", async () => {
  const other = await opened.context.newPage();
  await other.goto(consoleUrl(service, "/stock/count"));
  await other.locator("#count-id:focus").waitFor();
  const seen = (one: Page, size: number) =>
    one.getByRole("button", { name: `Counted ${size}`, exact: true }).waitFor();
  await count(1, 37);
  await seen(other, 1);
  await other.evaluate(() => {
    window.addEventListener("storage", (event) => event.stopImmediatePropagation(), true);
  });
  await count(12, 69);
  await counted(2);
  await other.keyboard.type("13\n9\n");
  await seen(other, 3);
  await counted(3);
  await other.close();
  await page.reload();
  await counted(3);
});

test("a browser that cannot store the counts says so once, and the page keeps them", async () => {
  await page.evaluate(() => {
    Storage.prototype.setItem = () => {
      throw new Error("full");
    };
  });
  await count(1, 37);
  await count(12, 69);
  await counted(2);
  await page.getByText("This browser cannot store more counts.").waitFor();
});
