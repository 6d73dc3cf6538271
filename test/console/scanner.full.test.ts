import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  consoleUrl,
  expectNoComplaints,
  openConsole,
  phone,
  showView,
} from "../support/console.ts";
import { scanInto, typeInto } from "../support/keys.ts";
import { program } from "../support/program.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { lastLedgerRows, openStock, quantityOf, rowOf } from "../support/stock-view.ts";

/** A scan is taken from whatever has the focus, and finds its pet. It is never typed into another field. */

const codes = { rex: "4006381333931", luna: "E042 KOI", polly: "00123456789051" };
const unknown = "4006381333948";

let service: TestService;
let opened: ConsolePage;
let page: Page;
let till: string;

beforeAll(async () => {
  service = await startTestService(surfaceEngine, {}, {}, { program });
  till = (await service.issueKey({ name: "Till 2" })).text;
  await service.addPets(
    { petId: 1n, name: "Rex", barcode: codes.rex, quantity: 7 },
    { petId: 2n, name: "Luna", barcode: codes.luna, quantity: 7 },
    ...Array.from({ length: 80 }, (_, index) => ({
      petId: BigInt(index + 100),
      name: `Fish ${index + 100}`,
      quantity: 7,
    })),
    { petId: 900n, name: "Polly", barcode: codes.polly, quantity: 7 },
  );
  opened = await openConsole(service, "/stock");
  page = opened.page;
});
afterAll(async () => {
  expectNoComplaints(opened, service);
  await opened.context.close();
  await closeBrowser();
  await service.stop();
});

/** Every test begins in Stock, and ends without a change that nobody has confirmed. */
let expectNothingStored: () => Promise<void>;
beforeEach(async () => {
  expectNothingStored = await openStock(page, service, till, 1);
});

const scan = (text: string, end?: "Enter" | "Tab") => scanInto(page, text, end);
const cell = (petId: number, column: string) => rowOf(page, petId).locator(`.cell-${column}`);
/** The one row that is selected, and whose quantity has the focus. */
async function isFound(petId: number): Promise<void> {
  await page.locator(`[data-pet='${petId}'] .cell-quantity:focus`).waitFor();
  expect(await page.locator(".is-selected").count()).toBe(1);
  expect(await rowOf(page, petId).getAttribute("aria-selected")).toBe("true");
}
const search = () => page.locator(".toolbar [type=search]");
const question = () => page.getByRole("alertdialog");

test("on any cell of Stock, a scan selects the row of its pet, and no quantity", async () => {
  for (const column of ["select", "id", "name", "category", "quantity", "status", "change"]) {
    for (const [code, petId] of [
      [codes.rex, 1],
      [codes.luna, 2],
    ] as const) {
      await cell(3 - petId, column).focus();
      await scan(code);
      await isFound(petId);
      expect(await page.locator(".is-editing, dialog").count()).toBe(0);
    }
  }
  await expectNothingStored();
});

test("a row far below comes into view, and a person types its quantity", async () => {
  await scan(codes.polly, "Tab");
  await isFound(900);
  expect(
    await rowOf(page, 900).evaluate((row) => {
      const { bottom } = row.getBoundingClientRect();
      return bottom <= row.closest(".grid-scroller")!.getBoundingClientRect().bottom;
    }),
  ).toBe(true);
  await typeInto(page, "9");
  await page.locator(".toast", { hasText: "Polly: 7 → 9" }).waitFor();
  expect(await lastLedgerRows(service, till, 1)).toMatchObject([
    { petId: 900, after: { quantity: 9 } },
  ]);
});

test("a scan into an edit leaves what was typed, and what was there, as it was", async () => {
  await cell(100, "quantity").click();
  const fields = page.locator(".is-editing");
  await fields.locator(".cell-quantity input").fill("12");
  await fields.locator(".cell-change input").fill("shelf");
  for (const field of [".cell-quantity input", ".cell-change input", "select"]) {
    await fields.locator(field).focus();
    await scan(codes.rex);
    await isFound(1);
    expect(await fields.locator(".cell-quantity input").inputValue()).toBe("12");
    expect(await fields.locator(".cell-change input").inputValue()).toBe("shelf");
    expect(await fields.locator("select").inputValue()).toBe("available");
  }
  await expectNothingStored();
  await fields.getByRole("button", { name: "Cancel" }).click();
});

test("scans into the search are not appended to each other, and a filter hides no scanned pet", async () => {
  await search().fill("fish 1");
  await page.locator("[data-shown='80']").waitFor();
  await search().focus();
  await scan(codes.rex);
  await isFound(1);
  await search().focus();
  await scan(codes.luna);
  await isFound(2);
  await search().focus();
  await scan(codes.rex);
  await isFound(1);
  expect(await search().inputValue()).toBe("");
});

test("the bulk bar takes no scan for a quantity, and asks about one that a person types", async () => {
  await cell(100, "select").click();
  await cell(101, "select").click();
  const bar = page.locator(".bulk-bar");
  const amount = bar.getByLabel("Quantity", { exact: true });
  for (const field of [amount, bar.getByLabel("What to change"), bar.getByLabel("Reason")]) {
    await amount.fill("5");
    await field.focus();
    await scan(codes.rex);
    await isFound(1);
    expect(await amount.inputValue()).toBe("5");
    expect(await bar.getByLabel("What to change").inputValue()).toBe("quantity");
    expect(await bar.getByLabel("Reason").inputValue()).toBe("");
  }
  await page.keyboard.press("Escape");
  await cell(100, "select").click();
  await cell(101, "select").click();
  await amount.focus();
  await typeInto(page, codes.rex);
  await question().getByText("Fish 100: is the quantity 4,006,381,333,931?").waitFor();
  await question().getByText("1 other may be wrong, too.").waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  // A scanner confirms nothing.
  await scan(codes.rex);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await question().waitFor({ state: "detached" });
  expect(await amount.inputValue()).toBe(codes.rex);
  await expectNothingStored();
});

test("in History, a scan waits for the pets that are loading", async () => {
  const released = Promise.withResolvers<void>();
  await page.route("**/admin/stock", async (route) => {
    await released.promise;
    await route.continue();
  });
  const isAsked = page.waitForRequest("**/admin/stock");
  await page.goto(consoleUrl(service, "/history"));
  await isAsked;
  await scan(codes.rex);
  released.resolve();
  await page.waitForURL(/\/history\/1$/);
  expect(await question().count()).toBe(0);
  await page.unroute("**/admin/stock");
});

test("an unknown barcode stops with a sound, and the next scan waits until it was seen", async () => {
  await page.evaluate(() => {
    const { start } = OscillatorNode.prototype;
    OscillatorNode.prototype.start = function (...args) {
      document.documentElement.dataset.sounds = "played";
      start.apply(this, args);
    };
  });
  await cell(100, "status").focus();
  await scan(unknown);
  await question().getByText(`No pet has the id or barcode ${unknown}.`).waitFor();
  expect(await page.evaluate(() => document.documentElement.dataset.sounds)).toBe("played");
  await scan(codes.rex);
  expect(await question().isVisible()).toBe(true);
  await page.keyboard.press("Escape");
  await page.locator("#cell-2-status:focus").waitFor();
  expect(await page.locator(".is-selected").count()).toBe(0);
  await scan(codes.rex);
  await isFound(1);
});

test("with a dialog open, only its barcode field takes a scan, and nothing is submitted", async () => {
  await page.getByRole("button", { name: "Add pet" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Milo");
  await dialog.getByLabel("Quantity").fill("4");
  for (const label of ["Id", "Name", "Category", "Low stock at", "Quantity", "Status"]) {
    const field = dialog.getByLabel(label, { exact: true });
    const value = await field.inputValue();
    await field.focus();
    await scan(unknown);
    await question().getByText("a dialog is open").waitFor();
    await page.keyboard.press("Escape");
    await question().waitFor({ state: "detached" });
    expect([label, await field.inputValue()]).toEqual([label, value]);
  }
  const barcode = dialog.getByLabel("Barcode");
  for (const code of [codes.rex, unknown]) {
    await barcode.focus();
    await scan(code);
    expect(await barcode.inputValue()).toBe(code);
  }
  await expectNothingStored();
  await dialog.getByLabel("Id", { exact: true }).fill("950");
  const save = () => dialog.getByRole("button", { name: "Add pet" }).click();
  for (const label of ["Low stock at", "Quantity"]) {
    await dialog.getByLabel(label).fill("40063813");
    await save();
    await question().getByText("Milo: is the quantity 40,063,813?").waitFor();
    await page.keyboard.press("Escape");
    await dialog.getByText(`Nothing was saved. Correct “${label}”.`).waitFor();
    await dialog.getByLabel(label).fill("4");
  }
  await expectNothingStored();
  await save();
  await dialog.waitFor({ state: "detached" });
  await scan(unknown);
  await isFound(950);
});

test("in a delivery, a scan into any field is the next line", async () => {
  await showView(page, "/stock/delivery");
  const finder = page.locator(".delivery-finder input");
  await page.locator(".delivery-finder input:focus").waitFor();
  await scan(codes.rex);
  const amount = page.locator("#amount-1");
  await amount.waitFor();
  expect(await amount.inputValue()).toBe("1");
  const reference = page.getByLabel("Reference");
  await reference.fill("note 4711");
  let pieces = 1;
  for (const field of [amount, reference, page.getByRole("button", { name: "Discard" }), finder]) {
    await field.focus();
    await scan(codes.polly);
    pieces += 1;
    await page.getByText(`2 kinds, ${pieces} pieces`).waitFor();
    await page.locator(".delivery-finder input:focus").waitFor();
    expect(await amount.inputValue()).toBe("1");
    expect(await reference.inputValue()).toBe("note 4711");
  }
  await amount.focus();
  await scan("4006381339999");
  await question().getByText("No pet has the id or barcode 4006381339999.").waitFor();
  await page.keyboard.press("Escape");
  // An amount that was not ended could be that of either pet.
  await finder.fill("24");
  await scan(codes.rex);
  await question().getByText("Press Enter after 24").waitFor();
  await page.keyboard.press("Escape");
  expect(await finder.inputValue()).toBe("24");
  await page.getByText(`2 kinds, ${pieces} pieces`).waitFor();
  await page.getByRole("button", { name: "Discard" }).click();
  await expectNothingStored();
});

test("in a count, a scan into any field is the next line", async () => {
  await showView(page, "/stock/count");
  await page.locator("#count-id:focus").waitFor();
  const field = (name: string) => page.getByLabel(`${name}: how many are there?`);
  await scan(codes.rex);
  await field("Rex").waitFor();
  const others: readonly Locator[] = [
    page.locator("#count-quantity"),
    search(),
    quantityOf(page, 100),
    page.getByRole("button", { name: /^Uncounted/ }),
  ];
  for (const [index, other] of others.entries()) {
    await other.focus();
    const [name, code] =
      index % 2 === 0 ? (["Luna", codes.luna] as const) : (["Rex", codes.rex] as const);
    await scan(code);
    await field(name).waitFor();
    expect(await page.locator("#count-quantity:focus").inputValue()).toBe("");
    expect(await page.locator("#count-id").inputValue()).toBe(code);
  }
  await field("Rex").fill("6");
  await scan(codes.luna);
  await question().getByText("Press Enter after the count 6 of Rex.").waitFor();
  await page.keyboard.press("Escape");
  await typeInto(page, "");
  await page.getByRole("button", { name: "Counted 1", exact: true }).waitFor();
  await page.getByRole("button", { name: "Discard…" }).click();
  await page.getByRole("button", { name: "Discard", exact: true }).click();
  await expectNothingStored();
});

test("half of a date, and a choice, are as before after a scan", async () => {
  await showView(page, "/activity");
  const from = page.getByLabel("From", { exact: true });
  await from.focus();
  await scan("123456789012");
  await question().waitFor();
  await page.keyboard.press("Escape");
  await question().waitFor({ state: "detached" });
  expect(await from.evaluate((field: HTMLInputElement) => field.validity.badInput)).toBe(false);
  const cause = page.getByLabel("Made with");
  await cause.focus();
  await scan("Undo 1234");
  await question().waitFor();
  await page.keyboard.press("Escape");
  expect(await cause.inputValue()).toBe("");
});

test("elsewhere, a scan opens its pet; in History, its history; in Activity, it can be the filter", async () => {
  for (const path of ["/overview", "/activity", "/import", "/keys", "/audit"]) {
    await showView(page, path);
    await page.locator(".view-title").waitFor();
    await scan(codes.rex);
    await page.waitForURL(/\/stock\/1$/);
    await page.getByRole("dialog").getByLabel("Barcode").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await showView(page, "/history");
  for (const [code, petId] of [
    [codes.rex, 1],
    [codes.polly, 900],
  ] as const) {
    await page.locator("h1").waitFor();
    await scan(code);
    await page.waitForURL(new RegExp(`/history/${petId}$`));
  }
  await showView(page, "/activity");
  for (const [code, petId] of [
    [codes.rex, 1],
    [codes.polly, 900],
  ] as const) {
    await page.locator("#filter-pet").focus();
    await scan(code);
    await page.waitForURL(new RegExp(`pet=${petId}`));
  }
});

test("on a phone, the sheet of an edit takes no scan and asks about a doubtful quantity; a viewer finds pets, too", async () => {
  const small = await openConsole(service, "/stock", phone);
  await rowOf(small.page, 102).locator(".cell-name").click();
  const field = small.page.locator("#edit-quantity");
  await field.focus();
  await scanInto(small.page, codes.rex);
  const asked = small.page.getByRole("alertdialog");
  await asked.getByText("a dialog is open").waitFor();
  await small.page.keyboard.press("Escape");
  expect(await field.inputValue()).toBe("7");
  await field.fill("70");
  await typeInto(small.page, "");
  await asked.getByText("Fish 102: is the quantity 70? The stock is 7.").waitFor();
  expect(await seriousFindings(small.page)).toEqual([]);
  await small.page.keyboard.press("Escape");
  await expectNothingStored();
  await small.context.close();

  const viewer = await openConsole(service, "/stock", { role: "viewer" });
  await rowOf(viewer.page, 100).locator(".cell-status").focus();
  await scanInto(viewer.page, codes.polly);
  await viewer.page.locator("[data-pet='900'] .cell-quantity:focus").waitFor();
  await viewer.context.close();
});
