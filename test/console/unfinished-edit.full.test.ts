import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { issueOperator } from "../support/admin/operators.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  consoleUrl,
  expectNoComplaints,
  fitsWidth,
  openConsole,
  showView,
} from "../support/console.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import {
  changeQuantity,
  lastLedgerRows,
  quantityOf,
  rowOf,
  type SeenRow,
  shows,
} from "../support/stock-view.ts";

/**
 * An edit that is not finished moves no focus, takes no key meant for another field, and is saved only by
 * its own keys and buttons.
 */

let service: TestService;
let opened: ConsolePage;
let page: Page;
let till: string;
let before: readonly SeenRow[];
const lastRows = () => lastLedgerRows(service, till, 1);
const search = () => page.locator("[type=search]");
const field = () => page.getByLabel("Quantity of Pet 4");
const hasFocus = (one: Locator) => one.evaluate((element) => element === document.activeElement);
const notice = () => page.locator(".unfinished-edit");

beforeAll(async () => {
  service = await startTestService(surfaceEngine);
  till = (await service.issueKey({ name: "Till 2" })).text;
  const pets = Array.from({ length: 14 }, (_, index) => ({
    petId: BigInt(index + 1),
    name: `Pet ${index + 1}`,
    quantity: 10,
  }));
  await service.addPets(...pets);
  opened = await openConsole(service, "/stock");
  page = opened.page;
});
afterAll(async () => {
  expectNoComplaints(opened, service, [/status of 409/]);
  await opened.context.close();
  await closeBrowser();
  await service.stop();
});

/** Every test begins with an edit of pet 4 that is not finished. */
beforeEach(async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(consoleUrl(service, "/stock"));
  await shows(page, 4, "available");
  before = await lastRows();
  await quantityOf(page, 4).click();
  await page.keyboard.type("15");
});

test("a search that hides the row keeps the focus and all its keys, and its Enter saves nothing", async () => {
  await search().click();
  // As a scanner does: the keys follow each other without a pause, and Enter ends them.
  await page.keyboard.type("10\n", { delay: 0 });
  expect(await search().inputValue()).toBe("10");
  expect(await hasFocus(search())).toBe(true);
  await page.locator("[data-shown='1']").waitFor();
  await notice().getByText("15").waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await seriousFindings(page)).toEqual([]);
  await page.keyboard.type("\n\n");
  expect(await lastRows()).toEqual(before);
});

test("the row comes back with what was typed, and leaves the focus in the search", async () => {
  await search().click();
  await page.keyboard.type("10");
  await notice().waitFor();
  await page.keyboard.press("Control+A");
  await page.keyboard.type("Pet");
  await field().waitFor();
  expect(await field().inputValue()).toBe("15");
  expect(await search().inputValue()).toBe("Pet");
  expect(await hasFocus(search())).toBe(true);
  expect(await notice().count()).toBe(0);
});

test("the notice saves or discards the edit, and another row is not edited before that", async () => {
  await search().fill("10");
  await notice().getByText("Pet 4: 15 is not saved.").waitFor();
  await quantityOf(page, 10).click();
  await notice().getByText("Save or cancel this edit first").waitFor();
  await notice().getByRole("button", { name: "Discard" }).click();
  await notice().waitFor({ state: "detached" });
  expect(await hasFocus(search())).toBe(true);
  expect(await lastRows()).toEqual(before);

  await search().fill("");
  await quantityOf(page, 4).click();
  await page.keyboard.type("16");
  await search().fill("10");
  await notice().getByRole("button", { name: "Save" }).focus();
  await page.keyboard.press("Enter");
  await page.locator(".toast", { hasText: "10 → 16" }).waitFor();
  expect(await hasFocus(search())).toBe(true);
  expect(await lastRows()).toMatchObject([{ petId: 4, after: { quantity: 16 } }]);
  await changeQuantity(service, till, 4, 10);
});

test("Enter and Escape in other parts of the list neither save nor cancel the edit", async () => {
  for (const part of [
    rowOf(page, 7).getByLabel("Select Pet 7"),
    rowOf(page, 4).getByLabel("Select Pet 4"),
    page.getByRole("button", { name: "Name" }),
  ]) {
    await part.focus();
    await page.keyboard.press("Escape");
    expect(await field().inputValue()).toBe("15");
    await page.keyboard.press("Enter");
    expect(await field().isEnabled()).toBe(true);
  }
  expect(await lastRows()).toEqual(before);
  await field().focus();
  await page.keyboard.press("Escape");
  await field().waitFor({ state: "detached" });
});

test("an edit that is being saved leaves the focus to whoever has gone on to the search", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route("**/admin/stock/4", async (route) => {
    await released;
    await route.continue();
  });
  await field().press("Enter");
  await search().click();
  await page.keyboard.type("10");
  release();
  await page.locator(".toast", { hasText: "10 → 15" }).waitFor();
  await page.unroute("**/admin/stock/4");
  // Also when its cell comes back.
  await page.keyboard.press("Control+A");
  await page.keyboard.type("Pet 4");
  await rowOf(page, 4).waitFor();
  expect(await search().inputValue()).toBe("Pet 4");
  expect(await hasFocus(search())).toBe(true);
  await changeQuantity(service, till, 4, 10);
});

test("rows that others add, change or remove leave the focus in the edit", async () => {
  await page.getByRole("button", { name: "Quantity" }).click();
  await field().focus();
  await changeQuantity(service, till, 1, 99);
  await changeQuantity(service, till, 14, 0);
  await service.addPets({ petId: 20n, name: "Pet 20", quantity: 40 });
  await rowOf(page, 20).waitFor();
  const { text: key } = await issueOperator(service, "Grace");
  await service.call("DELETE", "~/admin/pets/2", { key });
  await rowOf(page, 2).waitFor({ state: "detached" });
  await page.keyboard.press("End");
  await page.keyboard.type("7");
  expect(await field().inputValue()).toBe("157");
  expect(await hasFocus(field())).toBe(true);
});

test("the removal of the pet by somebody else takes no focus, and is shown until it is seen", async () => {
  await page.keyboard.press("Escape");
  await service.addPets({ petId: 21n, name: "Pet 21", quantity: 3 });
  await quantityOf(page, 21).click();
  await page.keyboard.type("5");
  await search().click();
  const { text: key } = await issueOperator(service, "Grace");
  expect((await service.call("DELETE", "~/admin/pets/21", { key })).status).toBe(204);
  await notice().getByText("The edit of Pet 21 is not saved.").waitFor();
  await notice().getByText("removed this entry").waitFor();
  expect(await hasFocus(search())).toBe(true);
  await notice().getByRole("button", { name: "Close" }).click();
  await notice().waitFor({ state: "detached" });
});

test("on a narrower window, and in a view that is opened again, the edit is a notice", async () => {
  await search().click();
  await page.setViewportSize({ width: 390, height: 844 });
  await notice().waitFor();
  expect(await hasFocus(search())).toBe(true);
  expect(await fitsWidth(page)).toBe(true);
  expect(await seriousFindings(page)).toEqual([]);
  // A tap on its row goes on with it in a sheet.
  await rowOf(page, 4).locator(".cell-name").click();
  const sheet = page.getByRole("dialog");
  expect(await sheet.getByLabel("Quantity").inputValue()).toBe("15");
  await sheet.getByRole("button", { name: "Cancel" }).click();
  await rowOf(page, 4).locator(".cell-name").click();
  await sheet.getByLabel("Quantity").fill("16");
  await showView(page, "/orders");
  await page.locator("h1", { hasText: "Orders" }).waitFor();
  await showView(page, "/stock");
  await notice().getByText("16").waitFor();
  expect(await sheet.count()).toBe(0);
  await page.setViewportSize({ width: 1280, height: 800 });
  await field().waitFor();
  expect(await hasFocus(field())).toBe(false);
});

test("Escape drops an edit in conflict, also from the button that would save it", async () => {
  await changeQuantity(service, till, 4, 8);
  const conflict = page.locator(".conflict");
  await conflict.waitFor();
  await page.keyboard.press("Enter");
  expect(await hasFocus(conflict.getByText("Save mine"))).toBe(true);
  await page.keyboard.press("Escape");
  await conflict.waitFor({ state: "detached" });
  await shows(page, 4, "8available");
  expect(await hasFocus(quantityOf(page, 4))).toBe(true);
  expect(await lastRows()).toMatchObject([{ petId: 4, after: { quantity: 8 }, keyName: "Till 2" }]);
});
