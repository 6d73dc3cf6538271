import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import { type ConsolePage, expectNoComplaints } from "../support/console.ts";
import { surfaceEngine, type TestService } from "../support/service.ts";
import {
  changeQuantity,
  lastLedgerRows,
  openStockView,
  quantityOf,
  rowOf,
  shows,
} from "../support/stock-view.ts";

afterAll(closeBrowser);

describe.each([surfaceEngine])("the Stock view on %s", (engine) => {
  let service: TestService;
  let opened: ConsolePage;
  let page: Page;
  let till: string;
  const lastRows = (count: number) => lastLedgerRows(service, till, count);
  const changeElsewhere = (petId: number | string, quantity: number, reason = "sold") =>
    changeQuantity(service, till, petId, quantity, reason);

  beforeAll(async () => {
    ({ service, till, opened } = await openStockView(engine));
    page = opened.page;
  });
  afterAll(async () => {
    expectNoComplaints(opened, service, [/status of 409/, /status of 50[03]/, /ERR_/]);
    await opened.context.close();
    await service.stop();
  });

  test("an edit in progress survives somebody else's change, and the person decides", async () => {
    await quantityOf(page, 6).click();
    await page.keyboard.type("9");
    await changeElsewhere(6, 4, "sold six");
    const conflict = page.locator(".conflict");
    await conflict.waitFor();
    const text = (await conflict.textContent())!;
    for (const part of ["Till 2", "sold six", "Mine9", "Theirs4"]) expect(text).toContain(part);
    expect(await page.inputValue("[aria-label='Quantity of Pet 6']")).toBe("9");
    expect(await seriousFindings(page)).toEqual([]);
    // Enter does not save over the other change: it leads to the decision.
    await page.keyboard.press("Enter");
    expect(await lastRows(1)).toMatchObject([{ petId: 6, after: { quantity: 4 } }]);
    await conflict.getByText("Save mine").click();
    await shows(page, 6, "9available");
    expect(await lastRows(1)).toMatchObject([
      { petId: 6, after: { quantity: 9 }, cause: "console" },
    ]);

    await quantityOf(page, 6).click();
    await page.keyboard.type("1");
    await changeElsewhere(6, 3);
    await conflict.getByText("Keep theirs").click();
    await shows(page, 6, "3available");
    expect(await lastRows(1)).toMatchObject([
      { petId: 6, after: { quantity: 3 }, keyName: "Till 2" },
    ]);
  });

  test("a change that the page has not seen yet is a conflict, too", async () => {
    await page.route("**/admin/changes*", (route) =>
      route.request().method() === "GET" ? route.abort() : route.continue(),
    );
    await page.reload();
    await page.locator("[data-connection=lost]").waitFor();
    await rowOf(page, 7).waitFor();
    await changeElsewhere(7, 2, "sold eight");
    await quantityOf(page, 7).click();
    await page.keyboard.type("8");
    await page.keyboard.press("Enter");
    const conflict = page.locator(".conflict");
    await conflict.getByText("sold eight").waitFor();
    await conflict.getByText("Keep theirs").click();
    await page.unroute("**/admin/changes*");
    await page.locator("[data-connection=live]").waitFor();
    await shows(page, 7, "2available");
  });

  test("a batch whose result is unknown can be sent again when its rows are not selected any more", async () => {
    await page.route("**/admin/changes", (route) => route.fulfill({ status: 500 }), { times: 1 });
    await rowOf(page, 12).locator(".cell-select").click();
    const bar = page.locator(".bulk-bar");
    await bar.getByLabel("Quantity", { exact: true }).fill("17");
    await bar.getByText("Apply").click();
    await bar.getByText("1 change may not have been saved").waitFor();
    await rowOf(page, 11).locator(".cell-name").click();
    await page.keyboard.press("Escape");
    expect(await page.locator(".is-selected").count()).toBe(0);
    await bar.getByRole("button", { name: "Send again" }).click();
    await bar.waitFor({ state: "detached" });
    expect(await lastRows(1)).toMatchObject([{ petId: 12, after: { quantity: 17 } }]);
  });

  test("a batch is refused whole if one of its rows is refused", async () => {
    const before = await lastRows(1);
    await rowOf(page, 8).locator(".cell-select").click();
    await rowOf(page, 9).locator(".cell-select").click();
    const bar = page.locator(".bulk-bar");
    await bar.getByLabel("Quantity", { exact: true }).fill("-5");
    await bar.getByText("Apply").click();
    await bar.getByText("Enter a whole number from 0").waitFor();
    await bar.getByLabel("What to change").selectOption("delta");
    await bar.getByLabel("Quantity", { exact: true }).fill("-11");
    await bar.getByText("Apply").click();
    await bar.locator(".field-error", { hasText: "would make the quantity negative" }).waitFor();
    expect(await lastRows(1)).toEqual(before);
    await bar.getByText("Clear").click();
  });
});
