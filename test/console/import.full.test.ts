import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  consoleUrl,
  expectNoComplaints,
  openConsole,
} from "../support/console.ts";
import { program } from "../support/program.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

const wideId = "9223372036854775807";

let service: TestService;
let opened: ConsolePage;
let page: Page;
let key: string;

beforeAll(async () => {
  service = await startTestService(surfaceEngine, {}, {}, { program });
  key = (await service.issueKey()).text;
  await service.addPets(
    { petId: 1n, name: "Rex", quantity: 10 },
    { petId: BigInt(wideId), name: "Last", quantity: 3 },
  );
  opened = await openConsole(service, "/import");
  page = opened.page;
});
afterAll(async () => {
  expectNoComplaints(opened, service, [/ERR_FAILED/]);
  await opened.context.close();
  await closeBrowser();
  await service.stop();
});

/** Opens the view anew and chooses a file. */
async function choose(name: string, text: string, path = "/import"): Promise<void> {
  await page.goto(consoleUrl(service, path));
  const file = { name, mimeType: "text/csv", buffer: Buffer.from(text) };
  await page.setInputFiles("#import-file", file);
}
const button = (name: string) => page.getByRole("button", { name });
const region = (name: string) => page.getByRole("region", { name, exact: true });
const entriesOf = async () => (await service.call("GET", "/inventory", { key })).text;

test("the file is chosen with a button, and the field of the browser takes no place", async () => {
  const chooser = page.waitForEvent("filechooser");
  await page.goto(consoleUrl(service, "/import"));
  await button("choose a file").press("Enter");
  expect((await chooser).isMultiple()).toBe(false);
  // Some browsers draw its parts beyond any width that it is given, and then the page scrolls sideways.
  expect(await page.locator("#import-file").boundingBox()).toBeNull();
});

test("every bad row is explained, and nothing is imported", async () => {
  const before = await entriesOf();
  await choose("pets.csv", `petId,name,quantity\n1,Rex,many\n<img src=x>,Bad,1\n3,Mia,-4\n`);
  await region("Problems").waitFor();
  const rows = await region("Problems").locator("tbody tr").allTextContents();
  expect(rows).toEqual([
    expect.stringMatching(/^2quantitymanymust be an integer/),
    expect.stringMatching(/^3petId<img src=x>must be a 64-bit integer/),
    expect.stringMatching(/^4quantity-4must be an integer/),
  ]);
  await page.getByText("3 problems").waitFor();
  expect(await button("Import").count()).toBe(0);
  expect(await entriesOf()).toBe(before);
  expect(await seriousFindings(page)).toEqual([]);
});

test("the columns of a German workbook are mapped once, and remembered for the next file", async () => {
  const workbook = new URL("../fixtures/bestand.xlsx", import.meta.url).pathname;
  await page.goto(consoleUrl(service, "/import"));
  await page.setInputFiles("#import-file", workbook);
  await region("Columns of the file").waitFor();
  expect(await button("Import").count()).toBe(0);
  expect(await seriousFindings(page)).toEqual([]);
  const choices = { Artikel: "petId", Bezeichnung: "name", Bestand: "quantity", Preis: "ignore" };
  for (const [header, field] of Object.entries(choices)) {
    await page.getByLabel(header, { exact: true }).selectOption(field);
  }
  await button("Check with these columns").click();
  await button("Import 3 pets").waitFor();
  expect(await page.locator(".scroll-table tbody tr").allTextContents()).toContain(
    "4711quantity12",
  );
  expect(await seriousFindings(page)).toEqual([]);
  await button("Import 3 pets").click();
  await region("Result").waitFor();
  expect(await entriesOf()).toContain('{"petId":9007199254740993,"quantity":1234,');

  await choose("next.csv", "Artikel;Bestand\r\n4711;13\r\n");
  await button("Import 1 pet").waitFor();
  await page.getByText("Columns with other names").click();
  expect(await page.getByLabel("Artikel").inputValue()).toBe("petId");
});

test("an example file can be had, and imported", async () => {
  await page.goto(consoleUrl(service, "/import"));
  const download = async (link: Locator) => {
    const [file] = await Promise.all([page.waitForEvent("download"), link.click()]);
    return [file.suggestedFilename(), readFileSync(await file.path(), "utf8")] as const;
  };
  const [name, example] = await download(page.getByText("Download an example"));
  expect([name, example.split("\n").length]).toEqual(["pets-example.csv", 2]);
  await choose("example.csv", example);
  await button("Import 1 pet").waitFor();
});

test("a file whose name shows no format is checked with the chosen one", async () => {
  await choose("stock.txt", '{"petId":1,"quantity":10}\n');
  await button("NDJSON").click();
  await page.getByText("Everything in the file is already in the store").waitFor();
});

test("an upload can be cancelled", async () => {
  const before = await entriesOf();
  await page.route("**/pets/import?*", () => undefined);
  await choose("slow.csv", "petId,quantity\n1,0\n");
  await button("Cancel").click();
  await page.locator("#import-file").waitFor({ state: "attached" });
  await page.unroute("**/pets/import?*");
  expect(await entriesOf()).toBe(before);
});

test("after a lost connection the page does not claim to know, and a check finds out", async () => {
  await choose("lost.csv", "petId,quantity\n1,14\n");
  await button("Import 1 pet").waitFor();
  await page.route("**/pets/import?*", (route) => route.abort());
  await button("Import 1 pet").click();
  await page.getByText("The connection was lost while").waitFor();
  await page.unroute("**/pets/import?*");
  await button("Check the file again").click();
  await button("Import 1 pet").click();
  await region("Result").waitFor();
  expect(await entriesOf()).toContain('{"petId":1,"quantity":14,');
});

test("orders are imported, listed page by page, and exported", async () => {
  const orders = Array.from({ length: 51 }, (_, index) => `${index + 1},1,2,placed`);
  const file = `id,petId,quantity,status\n${orders.join("\n")}\n`;
  await choose("orders.csv", file, "/import?what=orders");
  await button("Import 51 orders").click();
  await page.getByText("Open the orders").click();
  await page.locator("tbody tr", { hasText: "51" }).waitFor();
  expect(await page.locator("tbody tr").count()).toBe(50);
  await button("Show older orders").click();
  await page.locator("tbody tr").nth(50).waitFor();
  const last = await page.locator("tbody tr").last().textContent();
  expect(last).toBe("1Rex 12Placed No date");
  await page.goto(consoleUrl(service, "/import"));
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByLabel("Export orders as CSV").click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^orders-.*\.csv$/);
  const lines = readFileSync(await download.path(), "utf8")
    .trim()
    .split("\n");
  expect(lines.length).toBe(52);
});
