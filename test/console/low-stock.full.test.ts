import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  expectNoComplaints,
  fitsWidth,
  openConsole,
  phone,
} from "../support/console.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { changeQuantity, rowOf, shows } from "../support/stock-view.ts";
import { until } from "../support/until.ts";

let service: TestService;
let opened: ConsolePage;
let page: Page;
let till: string;
beforeAll(async () => {
  service = await startTestService(surfaceEngine, { "low-stock-at": "3" });
  till = (await service.issueKey({ name: "Till" })).text;
  await service.addPets(
    { petId: 1n, name: "Guppy", quantity: 58 },
    { petId: 2n, name: "Tetra", quantity: 20, lowStockAt: 20 },
    { petId: 3n, name: "Barb", quantity: 30 },
    { petId: 4n, name: "Loach", quantity: 40 },
  );
  await changeQuantity(service, till, 1, 30);
  await changeQuantity(service, till, 3, 16);
  opened = await openConsole(service);
  page = opened.page;
});
afterAll(async () => {
  expectNoComplaints(opened, service);
  await opened.context.close();
  await closeBrowser();
  await service.stop();
});

const ids = () =>
  page.locator("[data-pet]").evaluateAll((rows) =>
    rows
      .map((row) => ({ id: row.getAttribute("data-pet"), top: row.getBoundingClientRect().top }))
      .sort((one, other) => one.top - other.top)
      .map(({ id }) => id)
      .join(),
  );
const badge = (text: string) => page.locator("nav .badge", { hasText: text });

test("the navigation and the overview count low entries, and follow a sale", async () => {
  await badge("1 low").waitFor();
  await changeQuantity(service, till, 4, 3);
  await badge("2 low").waitFor();
  expect(await page.locator(".tile", { hasText: "Low stock" }).locator(".stat").innerText()).toBe(
    "2",
  );
  expect(await seriousFindings(page)).toEqual([]);
});

test("Stock marks and filters low entries, and the filter follows edits", async () => {
  await page.getByRole("link", { name: "Show in Stock" }).click();
  await shows(page, 4, "Low");
  expect(await ids()).toBe("2,4");
  await page.getByRole("button", { name: /^Low 2/ }).click();
  await rowOf(page, 1).waitFor();
  expect(await rowOf(page, 1).innerText()).not.toContain("Low");
  await changeQuantity(service, till, 1, 3);
  await shows(page, 1, "Low");
  await page.getByRole("button", { name: /^Low 3/ }).waitFor();
  await changeQuantity(service, till, 1, 30);
});

test("what ends first is at the top, with the date and how it was computed", async () => {
  const { seq } = await service.store.inventory.readHead();
  await until(async () => (await service.store.sales.readSalesSeq()) === seq, 10_000, "the sales");
  await page.getByRole("button", { name: "Lasts until", exact: true }).first().click();
  await page.locator("[role=columnheader]", { hasText: "Lasts until" }).waitFor();
  expect(await ids()).toBe("4,1,3,2");
  const end = new Intl.DateTimeFormat("en-US", {
    year: "numeric",
    month: "short",
    day: "numeric",
  }).format(Date.now() + 32 * 86_400_000);
  await shows(page, 3, end);
  const how = "Sold 14 in 28 days";
  expect(await rowOf(page, 3).locator(`[title='${how}']`).count()).toBe(1);
  await shows(page, 2, "Not sold");
  expect(await seriousFindings(page)).toEqual([]);
  // The address has the order.
  await page.reload();
  await page.locator("[role=columnheader]", { hasText: "Lasts until" }).waitFor();
  expect(await ids()).toBe("4,1,3,2");
  await page.getByRole("button", { name: "Lasts until", exact: true }).first().click();
  await page.locator("[role=columnheader]", { hasText: "Last change" }).waitFor();
  expect(await ids()).toBe("1,2,3,4");
});

test("all of it fits on a phone", async () => {
  const small = await openConsole(service, "/stock?low=&sort=lasts", phone);
  await rowOf(small.page, 2).filter({ hasText: "Low" }).waitFor();
  expect(await fitsWidth(small.page)).toBe(true);
  expect(await seriousFindings(small.page)).toEqual([]);
  await small.context.close();
});
