import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { isDoubtful } from "../../src/console/stock/quantities.ts";
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
import { startTestService, type TestService } from "../support/service.ts";
import { changeQuantity, lastLedgerRows, rowOf, shows } from "../support/stock-view.ts";

/** Counting with a scanner: whatever is not plainly a count is not recorded before somebody looks. */

let service: TestService;
let opened: ConsolePage;
let page: Page;
let till: string;

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
  expectNoComplaints(opened, service);
  await opened.context.close();
  await closeBrowser();
  await service.stop();
});

/** Every test begins with nothing counted, and the focus in Id. */
beforeEach(async () => {
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
  await changeQuantity(service, till, 13, 5);
  await shows(page, 13, "5");
  const sent: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") sent.push(request.url());
  });
  await page.getByRole("button", { name: "Apply 1 difference" }).click();
  await page.getByText("changed too much since they were counted. Count them again: 13.").waitFor();
  await counted(0);
  expect(sent).toEqual([]);
  expect(await lastLedgerRows(service, till, 1)).toMatchObject([{ keyName: "Till 2" }]);
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
