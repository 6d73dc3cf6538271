import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { closeBrowser } from "../support/browser.ts";
import { type ConsolePage, expectNoComplaints, openConsole, showView } from "../support/console.ts";
import { scanInto, typeInto } from "../support/keys.ts";
import { program } from "../support/program.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { openStock, rowOf } from "../support/stock-view.ts";

/** A quantity that may be a mistake is stored only after a question. */

const code = "4006381333931";

let service: TestService;
let opened: ConsolePage;
let page: Page;
let till: string;

beforeAll(async () => {
  service = await startTestService(surfaceEngine, {}, {}, { program });
  till = (await service.issueKey({ name: "Till 2" })).text;
  const ids = Array.from({ length: 12 }, (_, index) => index + 100);
  await service.addPets(
    ...ids.map((id) => ({ petId: BigInt(id), name: `Fish ${id}`, quantity: 7 })),
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

let expectNothingStored: () => Promise<void>;
beforeEach(async () => {
  expectNothingStored = await openStock(page, service, till, 100);
});

const cell = (petId: number, column: string) => rowOf(page, petId).locator(`.cell-${column}`);
const question = () => page.getByRole("alertdialog");

test("the grid asks about a doubtful quantity before it is stored", async () => {
  await cell(100, "quantity").focus();
  await typeInto(page, code);
  await question().getByText("The stock is 7.").waitFor();
  await page.keyboard.press("Escape");
  const field = page.locator(".is-editing .cell-quantity input:focus");
  expect(await field.inputValue()).toBe(code);
  await expectNothingStored();
  await field.fill("30");
  await page.keyboard.press("Enter");
  await question().getByRole("button", { name: "Record 30" }).click();
  await page.locator(".toast", { hasText: "Fish 100: 7 → 30" }).waitFor();
  // What is added is added on purpose, but not eight digits of it.
  await cell(101, "quantity").focus();
  await typeInto(page, "+30");
  await page.locator(".toast", { hasText: "Fish 101: 7 → 37" }).waitFor();
  await cell(101, "quantity").focus();
  await typeInto(page, "+00000001");
  await question().getByText("Fish 101: is the quantity 1?").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
});

test("the console asks about a short code that came from a scanner, and not about what a person types", async () => {
  await cell(105, "select").click();
  const bar = page.locator(".bulk-bar");
  await bar.getByLabel("What to change").selectOption("delta");
  const amount = bar.getByLabel("Quantity", { exact: true });
  await amount.focus();
  await scanInto(page, "1042");
  await question().getByText("Fish 105: is the quantity 1,042?").waitFor();
  await page.keyboard.press("Escape");
  await expectNothingStored();
  await amount.fill("");
  await typeInto(page, "1042");
  await rowOf(page, 105).getByText("1,049").waitFor();
});

test("an import asks about doubtful quantities before it changes anything", async () => {
  await showView(page, "/import");
  const text = `petId,quantity\n110,8\n111,${code}\n`;
  const file = { name: "stock.csv", mimeType: "", buffer: Buffer.from(text) };
  await page.setInputFiles("#import-file", file);
  const start = page.getByRole("button", { name: "Import 2 pets" });
  await start.click();
  await question().getByText("Pet 111: is the quantity 4,006,381,333,931?").waitFor();
  await page.keyboard.press("Escape");
  await expectNothingStored();
  await start.click();
  await question()
    .getByRole("button", { name: /^Record/ })
    .click();
  await page.getByRole("region", { name: "Result" }).waitFor();
});
