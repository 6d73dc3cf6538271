import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { issueOperator } from "../support/admin/operators.ts";
import { closeBrowser } from "../support/browser.ts";
import { runHere } from "../support/commands.ts";
import { type ConsolePage, expectNoComplaints, showView } from "../support/console.ts";
import { typeInto } from "../support/keys.ts";
import { surfaceEngine, type TestService } from "../support/service.ts";
import {
  changeQuantity,
  focused,
  lastLedgerRows,
  markup,
  openStockView,
  quantityOf,
  rowOf,
  shows,
  wideId,
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
    expectNoComplaints(opened, service, [/status of 409/]);
    await opened.context.close();
    await service.stop();
  });

  test("an edit by keyboard is a row of the ledger, with the operator's name and the reason", async () => {
    await rowOf(page, 3).locator(".cell-name").click();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.keyboard.type("7");
    await page.keyboard.press("Tab");
    // Keys that pass other statuses send nothing.
    for (const key of ["ArrowDown", "ArrowDown", "P"]) await page.keyboard.press(key);
    await page.keyboard.press("Tab");
    await typeInto(page, "shelf check");
    await shows(page, 3, "7pending");
    expect(await lastRows(2)).toMatchObject([
      { cause: "import" },
      {
        petId: 3,
        after: { quantity: 7, status: "pending" },
        cause: "console",
        keyName: "Ada",
        reason: "shelf check",
      },
    ]);
    expect(await focused(page)).toBe("cell-2-quantity");
  });

  test("Escape leaves everything as it was, and a bad number is explained and not sent", async () => {
    const before = await lastRows(1);
    await quantityOf(page, 4).click();
    await page.keyboard.type("1.5");
    await page.keyboard.press("Enter");
    await page.getByText("Enter a whole number").waitFor();
    await page.keyboard.press("Escape");
    expect(await quantityOf(page, 4).textContent()).toBe("10");
    expect(await lastRows(1)).toEqual(before);
  });

  test("an edit can be undone at once", async () => {
    await quantityOf(page, 4).click();
    await page.keyboard.type("14");
    await page.keyboard.press("Enter");
    await shows(page, 4, "14");
    await page.locator(".toast", { hasText: "10 → 14" }).getByText("Undo").click();
    await shows(page, 4, "10available");
    expect(await lastRows(1)).toMatchObject([{ petId: 4, cause: "undo", keyName: "Ada" }]);
  });

  test("changes of another client and of the command line appear, marked, with who made them", async () => {
    await changeElsewhere(wideId, 5);
    await shows(page, wideId, "5available");
    await shows(page, wideId, "Till 2");
    expect(await rowOf(page, wideId).locator(".change-mark").count()).toBe(1);
    const file = "petId,name,quantity\n5,Pet 5,55\n20,New here,2\n";
    const words = ["pets", "import", "-", "--format", "csv", "--database", service.databaseUrl];
    expect(await runHere(words, { stdin: file })).toMatchObject({ code: 0 });
    await shows(page, 5, "55");
    await shows(page, 20, "New here");
    expect(await page.locator("[data-shown]").textContent()).toBe("14 entries");
  });

  test("a name that looks like markup is shown as text", async () => {
    expect(await rowOf(page, wideId).locator(".name-text").textContent()).toBe(markup);
    expect(await page.title()).not.toContain("stolen");
  });

  test("another name of a pet appears when the person comes back to the page", async () => {
    const { text: key } = await issueOperator(service, "Grace");
    await service.call("PATCH", "~/admin/pets/11", { key, body: '{"name":"Zoé"}' });
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await shows(page, 11, "Zoé");
  });

  test("a range of rows is changed in one batch", async () => {
    await rowOf(page, 8).locator(".cell-select").click();
    await rowOf(page, 10)
      .locator(".cell-select")
      .click({ modifiers: ["Shift"] });
    const bar = page.locator(".bulk-bar");
    await bar.getByText("3 selected").waitFor();
    await bar.getByLabel("What to change").selectOption("delta");
    await bar.getByLabel("Quantity", { exact: true }).fill("-4");
    await bar.getByLabel("Reason").fill("recall");
    await bar.getByText("Apply").click();
    await bar.waitFor({ state: "detached" });
    const rows = await lastRows(3);
    expect(rows.map(({ petId, after }) => [petId, after!.quantity])).toEqual([
      [8, 6],
      [9, 6],
      [10, 6],
    ]);
    expect(new Set(rows.map(({ requestId }) => requestId)).size).toBe(1);
    expect(rows[0]).toMatchObject({ cause: "console", keyName: "Ada", reason: "recall" });
    await shows(page, 10, "6available");
  });

  test("counting: scan, type, next, and the differences are applied to what is there then", async () => {
    // With this response, the page knows the clock of the service.
    const told = page.waitForResponse((one) => one.url().endsWith("/admin/stocktakes"));
    await page.getByText("Count stock").click();
    await told;
    const count = async (petId: string, quantity: string) => {
      await page.locator("#count-id").fill(petId);
      await page.keyboard.press("Enter");
      await page.locator("#count-quantity:focus").waitFor();
      await page.keyboard.type(quantity);
      await page.keyboard.press("Enter");
      await page.locator("#count-id:focus").waitFor();
    };
    await page.locator("#count-id").fill("999");
    await page.keyboard.press("Enter");
    await page.getByText("No pet has the id or barcode 999").waitFor();
    await page.keyboard.press("Escape");
    await count("0011", "12");
    await count("12", "10");
    await shows(page, 11, "12+2");
    expect(await rowOf(page, 11).locator(".cell-name .icon").count()).toBe(1);
    await page.getByRole("button", { name: /^Uncounted/ }).click();
    await rowOf(page, 11).waitFor({ state: "detached" });
    expect(await page.locator("[data-shown]").getAttribute("data-shown")).toBe("12");
    // A reload, as after a crash of the browser, loses no count. Meanwhile one is sold.
    await page.reload();
    await page.getByRole("button", { name: "Counted 2", exact: true }).waitFor();
    service.clock.advance(60_000);
    await changeElsewhere(11, 9);
    await shows(page, 11, "9");
    await page.getByRole("button", { name: "Review and apply…" }).click();
    await page.getByRole("button", { name: "Apply 1 difference" }).click();
    await page.getByText("The count is in the ledger").waitFor();
    expect(await lastRows(1)).toMatchObject([
      { petId: 11, after: { quantity: 11 }, reason: "Stocktake (counted 12, 1 fewer since)" },
    ]);
    await page.getByText("Count stock").waitFor();
  });

  test("a loss below zero cannot be recorded; one that the service refuses stays and can be corrected", async () => {
    const amountOf = (petId: string) => page.locator(`#amount-${petId}`);
    await showView(page, "/stock");
    for (const petId of [1, 2]) await rowOf(page, petId).locator(".cell-select").click();
    await page.getByRole("link", { name: "Receive…" }).click();
    await page.getByRole("button", { name: "Loss" }).click();
    await amountOf("1").fill("2");
    await amountOf("2").fill("15");
    await page.getByText("Pet 2: Only 10 in stock.").waitFor();
    await page.locator("#amount-2[aria-invalid=true]").waitFor();
    const record = page.getByRole("button", { name: "Record loss" });
    expect(await record.isDisabled()).toBe(true);
    await amountOf("2").fill("9");
    // Somebody sells some before the service gets it.
    await page.route("**/admin/changes", async (route) => {
      await changeElsewhere(2, 8);
      return route.fallback();
    });
    const refused = page.waitForResponse((response) => response.status() === 409);
    await record.click();
    await refused;
    await page.getByText("Pet 2: Only 8 in stock.").waitFor();
    await page.unroute("**/admin/changes");
    expect(await amountOf("1").inputValue()).toBe("2");
    await amountOf("2").fill("4");
    await record.click();
    await page.getByText("Loss. 2 kinds.").waitFor();
    await page.getByText("Record a delivery").waitFor();
    expect(await lastRows(2)).toMatchObject([
      { petId: 2, after: { quantity: 4 }, reason: "Loss", cause: "console" },
      { petId: 1, after: { quantity: 8 }, reason: "Loss", cause: "console" },
    ]);
  });
});
