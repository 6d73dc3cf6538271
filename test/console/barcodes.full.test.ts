import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { closeBrowser } from "../support/browser.ts";
import { type ConsolePage, expectNoComplaints, openConsole, showView } from "../support/console.ts";
import { scanInto, typeInto } from "../support/keys.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { rowOf } from "../support/stock-view.ts";

/** A pet is found by its barcode, wherever one is scanned or typed. */

let service: TestService;
let opened: ConsolePage;
let page: Page;

beforeAll(async () => {
  service = await startTestService(surfaceEngine);
  await service.addPets(
    { petId: 1n, name: "Rex", barcode: "4006381333931", lowStockAt: 3 },
    { petId: 2n, name: "Luna", barcode: "KOI 0042" },
    { petId: 3n, name: "Polly" },
  );
  opened = await openConsole(service, "/stock");
  page = opened.page;
});
afterAll(async () => {
  expectNoComplaints(opened, service, [/status of 409/]);
  await opened.context.close();
  await closeBrowser();
  await service.stop();
});

const shown = (count: number) => page.locator(`[data-shown='${count}']`).waitFor();

test("in Stock, and its form says which pet has a barcode already", async () => {
  const search = page.locator("[type=search]");
  await search.fill("4006381333931");
  await shown(1);
  await rowOf(page, 1).waitFor();
  await search.fill("400638133393");
  await shown(0);
  await search.fill("");
  await page.getByLabel("Details of Polly").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Barcode").fill("KOI 0042");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("Pet 2 has the barcode KOI 0042 already.").waitFor();
  await dialog.getByLabel("Barcode").fill("0009");
  await dialog.getByLabel("Low stock at").fill("2");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await service.store.catalogue.findPet(3n)).toMatchObject({
    barcode: "0009",
    lowStockAt: 2,
  });
  await search.fill(" 0009 ");
  await shown(1);
  await rowOf(page, 3).waitFor();
  await search.fill("");
});

test("in a count, and in History", async () => {
  await showView(page, "/stock/count");
  await page.locator("#count-id:focus").waitFor();
  await scanInto(page, "KOI 0042");
  await page.getByLabel("Luna: how many are there?").waitFor();
  await page.locator("#count-id").focus();
  await typeInto(page, "0009");
  await page.getByLabel("Polly: how many are there?").waitFor();
  await scanInto(page, "0009");
  await page.getByText("Polly: is the quantity 9?").waitFor();
  await page.keyboard.press("Escape");
  await showView(page, "/history");
  await page.locator("[type=search]").fill("4006381333931");
  await page.getByRole("link", { name: /Rex/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/history\/1$/);
});
