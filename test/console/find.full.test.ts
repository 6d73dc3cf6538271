import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { issueOperator } from "../support/admin/operators.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  consoleUrl,
  expectNoComplaints,
  openConsole,
} from "../support/console.ts";
import { pdfPages } from "../support/pdf-text.ts";
import { program } from "../support/program.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { rowOf } from "../support/stock-view.ts";

const categories = ["Dogs", "Bêtes à poil", null];
const numbered = Array.from({ length: 120 }, (_, index) => ({
  petId: BigInt(index + 1),
  name: `Pet ${index + 1}`,
  category: categories[index % 3]!,
  quantity: index * 10,
}));
/** What a spreadsheet program would round, run or split. */
const awkward = [
  {
    petId: 9007199254740993n,
    name: "=1+1",
    category: '-birds, "blue"',
    barcode: "0012",
    quantity: 5_000,
    lowStockAt: 3,
  },
  { petId: -7n, name: "'@x; y\tz", category: "''=a", quantity: 5_001 },
  { petId: 201n, name: " O'Hara\n2nd line", category: "'quoted'", quantity: 5_002 },
];
let service: TestService;
let opened: ConsolePage;
let page: Page;

beforeAll(async () => {
  service = await startTestService(surfaceEngine, {}, {}, { program });
  await service.addPets(...numbered, ...awkward);
  opened = await openConsole(service, "/stock", { colorScheme: "dark" });
  page = opened.page;
  await rowOf(page, 1).waitFor();
});
afterAll(async () => {
  expectNoComplaints(opened, service);
  await opened.context.close();
  await closeBrowser();
  await service.stop();
});

const shows = (count: number) => page.locator(`[data-shown='${count}']`).waitFor();
const filter = () => page.getByLabel("Category", { exact: true });
const firstRow = () => page.locator("[aria-rowindex='2']");
const query = () => new URL(page.url()).search;

test("a category is a column, a filter and a word of the search", async () => {
  expect(await rowOf(page, 2).locator(".cell-category").textContent()).toBe("Bêtes à poil");
  await page.fill("[type=search]", "betes 11");
  await shows(5);
  await page.fill("[type=search]", "");
  expect(await filter().locator("option").allTextContents()).toEqual([
    "All categories",
    '-birds, "blue"',
    "''=a",
    "'quoted'",
    "Bêtes à poil",
    "Dogs",
    "No category",
  ]);
  await filter().selectOption("No category");
  await shows(40);
  await filter().selectOption("Dogs");
  await shows(40);
  await page.getByRole("button", { name: "Available 40" }).waitFor();
  await filter().selectOption("All categories");
  await page.getByRole("button", { name: "Category" }).click();
  await page.getByRole("button", { name: "Category" }).click();
  await firstRow().filter({ hasText: "Dogs" }).waitFor();
});

test("another category of a pet appears, and leaves the list that it does not belong to", async () => {
  const { text: key } = await issueOperator(service, "Grace");
  await page.goto(consoleUrl(service, "/stock?category=Dogs"));
  await shows(40);
  const change = (category: string) =>
    service.call("PATCH", "~/admin/pets/1", { key, body: JSON.stringify({ category }) });
  await change("Wolves");
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await shows(39);
  await filter().selectOption("Wolves");
  await shows(1);
  await change("Dogs");
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await page.getByText("Nothing matches").waitFor();
  await page.getByText("Show all entries").click();
  await shows(123);
});

test("the address has what the list shows: it can be shared, reloaded and returned to", async () => {
  const nonsense = "status=eaten&sort=colour&page=7";
  await page.goto(consoleUrl(service, `/stock?q=pet&category=Dogs&status=available&${nonsense}`));
  await shows(40);
  expect(await page.inputValue("[type=search]")).toBe("pet");
  expect(await firstRow().getAttribute("data-pet")).toBe("1");
  await page.getByRole("button", { name: "Quantity" }).click();
  await page.waitForURL((url) => url.searchParams.get("sort") === "quantity");
  await page.getByRole("button", { name: "Quantity" }).click();
  await page.waitForURL((url) => url.searchParams.get("sort") === "-quantity");
  expect(query()).toBe("?q=pet&status=available&category=Dogs&sort=-quantity");
  await firstRow().filter({ hasText: "1,170" }).waitFor();
  // A search replaces the last step.
  const steps = await page.evaluate(() => window.history.length);
  await page.locator("[type=search]").press("End");
  await page.keyboard.type(" 11");
  await page.waitForURL((url) => url.searchParams.get("q") === "pet 11");
  await shows(3);
  expect(await page.evaluate(() => window.history.length)).toBe(steps);
  await page.reload();
  await shows(3);
  expect(await page.inputValue("[type=search]")).toBe("pet 11");
  expect(await filter().inputValue()).toBe("=Dogs");
  await page.goBack();
  await shows(40);
  await firstRow().filter({ hasText: "1,170" }).waitFor({ state: "detached" });
  expect(query()).toBe("?q=pet&status=available&category=Dogs&sort=quantity");
  await page.goForward();
  await shows(3);
  // Counting shows the same part of the stock, and leads back to it.
  await page.getByText("Count stock").click();
  await page.getByText("Stop counting").click();
  await shows(3);
  await page.getByRole("link", { name: "Stock", exact: true }).click();
  await shows(123);
  expect(query()).toBe("");
});

test("a list is printed with all its rows, and its header on every page", async () => {
  await page.goto(consoleUrl(service, "/stock"));
  await page.evaluate(() => {
    window.print = () => {};
  });
  const print = async () => {
    await page.getByRole("button", { name: "Print" }).click();
    await page.locator(".print-sheet").waitFor({ state: "attached" });
    await page.emulateMedia({ media: "print" });
    const sheet = page.locator(".print-sheet");
    const colours = await sheet.evaluate((element) => [
      getComputedStyle(element).color,
      getComputedStyle(document.body).backgroundColor,
    ]);
    expect(colours).toEqual(["rgb(0, 0, 0)", "rgb(255, 255, 255)"]);
    await page.emulateMedia({ media: null });
    const pages = pdfPages(await page.pdf({ format: "A4" }));
    await sheet.waitFor({ state: "detached" });
    return pages;
  };
  const stock = await print();
  expect(stock.length).toBeGreaterThan(2);
  for (const text of stock) expect(text).toContain("IdNameCategoryQuantityStatus");
  const rows = numbered.map(({ petId, name, category, quantity }) =>
    `${petId}${name}${category ?? ""}${quantity.toLocaleString("en")}available`.replaceAll(" ", ""),
  );
  for (const row of rows) expect(stock.join("")).toContain(row);
  expect(stock.join("")).toContain("9007199254740993=1+1");
  for (const other of ["Overview", "Addpet"]) expect(stock.join("")).not.toContain(other);

  await filter().selectOption("Dogs");
  await shows(40);
  await page.getByText("Count stock").click();
  const list = await print();
  for (const text of list) expect(text).toContain("IdNameCategoryQuantityCounted");
  expect(list.join("")).toContain("40entries·Dogs");
  expect(list.join("")).toContain("4Pet4Dogs307Pet7Dogs60");
  expect(list.join("")).not.toContain("poil");
});

test("what the filter shows is exported, and imported again without a difference", async () => {
  const save = async (delimiter: string) => {
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByLabel("Between the columns").selectOption(delimiter);
    if (delimiter === "Comma") expect(await seriousFindings(page)).toEqual([]);
    else await page.getByLabel("Encoding").selectOption("UTF-8");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    return readFileSync(await (await download).path());
  };
  await page.goto(consoleUrl(service, "/stock"));
  const file = await save("Comma");
  const lines = file.toString().split("\n");
  expect(lines[0]).toBe("\ufeffpetId,name,category,barcode,quantity,status,lowStockAt");
  expect(lines).toContain(
    `"=""9007199254740993""",'=1+1,"'-birds, ""blue""","=""0012""",5000,available,3`,
  );
  const { text: key } = await issueOperator(service, "Grace");
  const imported = await service.call("POST", "~/admin/pets/import?format=csv&dryRun=true", {
    key,
    body: file,
    headers: { "Content-Type": "application/octet-stream" },
  });
  expect(imported.json).toMatchObject({ created: 0, changed: 0, unchanged: 123 });

  await page.fill("[type=search]", "9007199254740993");
  await shows(1);
  expect((await save("Semicolon")).toString()).toBe(
    `petId;name;category;barcode;quantity;status;lowStockAt\n"=""9007199254740993""";'=1+1;"'-birds, ""blue""";"=""0012""";5000;available;3\n`,
  );
});
