import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { closeBrowser } from "../support/browser.ts";
import { runHere } from "../support/commands.ts";
import {
  type ConsolePage,
  expectNoComplaints,
  openConsole,
  seriousFindings,
} from "../support/console.ts";
import { engines, startTestService, type TestService } from "../support/service.ts";

const wideId = "9223372036854775807";
const markup = `<img src=x onerror="document.title='stolen'">`;

afterAll(closeBrowser);

const rowOf = (page: Page, petId: number | string) => page.locator(`[data-pet='${petId}']`);
const quantityOf = (page: Page, petId: number | string) =>
  rowOf(page, petId).locator(".cell-quantity");
/** Waits until the row shows this text. */
const shows = (page: Page, petId: number | string, text: string) =>
  rowOf(page, petId).filter({ hasText: text }).waitFor();
const focused = (page: Page) => page.evaluate(() => document.activeElement?.id);

describe.each(engines)("the Stock view on %s", (engine) => {
  let service: TestService;
  let opened: ConsolePage;
  let page: Page;
  let till: string;

  beforeAll(async () => {
    service = await startTestService(engine);
    till = (await service.issueKey({ name: "Till 2" })).text;
    const pets = Array.from({ length: 12 }, (_, index) => ({
      petId: BigInt(index + 1),
      name: `Pet ${index + 1}`,
      quantity: 10,
    }));
    await service.addPets(...pets, { petId: BigInt(wideId), name: markup, quantity: 1 });
    opened = await openConsole(service, "/stock");
    page = opened.page;
    await rowOf(page, 1).waitFor();
  });
  afterAll(async () => {
    expectNoComplaints(opened, service, [/status of 409/, /status of 503/, /ERR_/]);
    await opened.context.close();
    await service.stop();
  });

  interface Row {
    readonly petId: number;
    readonly cause: string;
    readonly keyName: string;
    readonly reason: string | null;
    readonly requestId: string;
    readonly after: { readonly quantity: number; readonly status: string } | null;
  }
  /** The last rows of the ledger, oldest first. */
  const lastRows = async (count: number) => {
    const { json } = await service.call("GET", `/changes?before=99999999&limit=${count}`, {
      key: till,
    });
    return (json as Row[]).toReversed();
  };
  const changeElsewhere = (petId: number | string, quantity: number, reason = "sold") =>
    service.call("PATCH", `/inventory/${petId}`, {
      key: till,
      body: JSON.stringify({ quantity }),
      headers: { "X-Change-Reason": reason },
    });

  test("an edit by keyboard is a row of the ledger, with the operator's name and the reason", async () => {
    await rowOf(page, 3).locator(".cell-name").click();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.keyboard.type("7");
    await page.keyboard.press("Tab");
    await page.keyboard.press("p");
    await page.keyboard.press("Tab");
    await page.keyboard.type("shelf check");
    await page.keyboard.press("Enter");
    await shows(page, 3, "7pending");
    expect(await lastRows(1)).toMatchObject([
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
    await page.keyboard.type("-1");
    await page.keyboard.press("Enter");
    await page.getByText("Enter a whole number").waitFor();
    await page.keyboard.press("Escape");
    expect(await quantityOf(page, 4).textContent()).toBe("10");
    expect(await lastRows(1)).toEqual(before);
  });

  test("an edit can be undone at once", async () => {
    await quantityOf(page, 4).click();
    await page.keyboard.type("44");
    await page.keyboard.press("Enter");
    await shows(page, 4, "44");
    await page.locator(".toast", { hasText: "10 → 44" }).getByText("Undo").click();
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
    await conflict.waitFor({ state: "detached" });
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

  test("a range of rows is changed in one batch", async () => {
    await rowOf(page, 8).locator(".cell-select").click();
    await rowOf(page, 10)
      .locator(".cell-select")
      .click({ modifiers: ["Shift"] });
    const bar = page.locator(".bulk-bar");
    await bar.getByText("3 selected").waitFor();
    await bar.getByLabel("What to change").selectOption("add");
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

  test("a batch that would overwrite another change is refused whole", async () => {
    const before = await lastRows(1);
    await rowOf(page, 8).locator(".cell-select").click();
    await rowOf(page, 9).locator(".cell-select").click();
    const bar = page.locator(".bulk-bar");
    await bar.getByLabel("Quantity", { exact: true }).fill("-5");
    await bar.getByText("Apply").click();
    await bar.getByText("Enter a whole number from 0").waitFor();
    await bar.getByLabel("What to change").selectOption("add");
    await bar.getByLabel("Quantity", { exact: true }).fill("-7");
    await bar.getByText("Apply").click();
    await bar.locator(".field-error", { hasText: "stock" }).waitFor();
    expect(await lastRows(1)).toEqual(before);
    await bar.getByText("Clear").click();
  });

  test("counting: scan, type, next, and the differences are applied to what is there then", async () => {
    await page.getByText("Count stock").click();
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
    await page.getByText("No pet has the id 999").waitFor();
    await count("0011", "12");
    await count("12", "10");
    await shows(page, 11, "12+2");
    expect(await rowOf(page, 11).locator(".cell-name .icon").count()).toBe(1);
    await page.getByRole("button", { name: /^Uncounted/ }).click();
    await rowOf(page, 11).waitFor({ state: "detached" });
    expect(await page.locator("[data-shown]").getAttribute("data-shown")).toBe("12");
    expect(await seriousFindings(page)).toEqual([]);
    // A reload, as after a crash of the browser, loses no count. Meanwhile one is sold.
    await page.reload();
    await page.getByRole("button", { name: "Counted 2", exact: true }).waitFor();
    await changeElsewhere(11, 9);
    await shows(page, 11, "9");
    await page.getByRole("button", { name: "Apply 1" }).click();
    await page.getByText("The count is in the ledger").waitFor();
    expect(await lastRows(1)).toMatchObject([
      { petId: 11, after: { quantity: 11 }, reason: "Stock count", cause: "console" },
    ]);
    await page.getByText("Count stock").waitFor();
  });

  test("a pet is added, changed and removed", async () => {
    await page.getByText("Add pet").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Id", { exact: true }).fill("9223372036854775806");
    await dialog.getByLabel("Quantity").fill("4");
    await dialog.getByRole("button", { name: "Add pet" }).click();
    await dialog.getByText("Enter a name.").waitFor();
    await dialog.getByLabel("Name").fill("Zoé");
    await dialog.getByRole("button", { name: "Add pet" }).click();
    await shows(page, "9223372036854775806", "Zoé");
    await page.getByLabel("Details of Zoé").click();
    await dialog.getByLabel("Name").fill("Zoë");
    await dialog.getByRole("button", { name: "Save" }).click();
    await shows(page, "9223372036854775806", "Zoë");
    await page.fill("[type=search]", "zoe");
    await page.locator("[data-shown='1']").waitFor();
    await page.getByLabel("Details of Zoë").click();
    await dialog.getByText("Remove…").click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByText("Nothing matches").waitFor();
    await page.getByText("Show all entries").click();
    expect(await lastRows(1)).toMatchObject([{ after: null, cause: "console", keyName: "Ada" }]);
  });
});

test("after a restart of the service, the page catches up with what it missed", async () => {
  const { port } = new URL((await startAndStop()).baseUrl);
  const service = await startTestService("sqlite", { port });
  const till = (await service.issueKey({ name: "Till 2" })).text;
  await service.addPets({ petId: 1n, name: "Rex", quantity: 10 });
  const opened = await openConsole(service, "/stock");
  await rowOf(opened.page, 1).waitFor();
  await service.restart();
  await service.call("PATCH", "/inventory/1", { key: till, body: '{"quantity":7}' });
  await shows(opened.page, 1, "7available");
  await opened.page.locator("[data-connection=live]").waitFor();
  expectNoComplaints(opened, service, [/status of 503/, /ERR_/]);
  await opened.context.close();
  await service.stop();
});

/** A service that used a free port. */
async function startAndStop(): Promise<TestService> {
  const service = await startTestService();
  const { baseUrl } = service;
  await service.stop();
  return { ...service, baseUrl };
}
