import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import { type ConsolePage, expectNoComplaints, openConsole, showView } from "../support/console.ts";
import { type Change, expectSeqs, makeChanges } from "../support/ledger-views.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { lastLedgerRows } from "../support/stock-view.ts";

/** Activity: its filter, and the undo of a change that was changed again. */

const startedAt = Date.UTC(2026, 10, 16, 8, 0);
let service: TestService;
let opened: ConsolePage;
let page: Page;
let till: { id: string; text: string };
let shop: { id: string; text: string };
let rare: number;
let last: number;

beforeAll(async () => {
  service = await startTestService(surfaceEngine);
  service.clock.set(startedAt);
  till = await service.issueKey({ name: "Till" });
  shop = await service.issueKey({ name: "Web shop" });
  await service.addPets(
    { petId: 1n, name: "Rex", quantity: 10 },
    { petId: 2n, name: "Luna", quantity: 5, status: "pending" },
    { petId: 3n, name: "Coral", quantity: 3 },
  );
  await change(till.text, { petId: 1, quantity: 7 });
  rare = await change(shop.text, { petId: 2, quantity: 4, reason: "rare" });
  last = await change(till.text, { petId: 1, quantity: 9 }, { petId: 1, quantity: 8 });
  opened = await openConsole(service, "/activity");
  page = opened.page;
});
afterAll(async () => {
  expectNoComplaints(opened, service, [/status of 409/]);
  await closeBrowser();
  await service.stop();
});

const change = (key: string, ...changes: readonly Change[]) =>
  makeChanges(service, key, ...changes);
const open = (path: string) => showView(page, path);
const rowOf = (seq: number) => page.locator(`[data-seq='${seq}']`);
const lastRow = async () => (await lastLedgerRows(service, shop.text, 1))[0];

test("Activity shows only changes that match the pet, the key, the cause and the time", async () => {
  await open("/activity");
  await rowOf(last).waitFor();
  await page.focus("#filter-key");
  await page.selectOption("#filter-key", { label: "Web shop" });
  await expectSeqs(page, rare);
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("filter-key");
  await page.fill("#filter-pet", "1");
  await page.keyboard.press("Enter");
  await page.getByText("No change matches").waitFor();
  expect(new URL(page.url()).search).toBe(`?pet=1&key=${shop.id}`);
  await page.getByText("Show all changes").click();
  await page.selectOption("#filter-cause", "import");
  await expectSeqs(page, 3, 2, 1);
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByText("Clear").click();
  const minute = (offset: number) => new Date(startedAt + offset * 60_000).toISOString();
  await open(`/activity?since=${minute(1)}&until=${minute(3)}`);
  await expectSeqs(page, rare, rare - 1);
  await open(`/activity?pet=2&until=${minute(1)}`);
  await expectSeqs(page, 2);
});

test("an undo of a change that was changed again shows by whom, and waits for the decision", async () => {
  await open("/activity?pet=2");
  await change(till.text, { petId: 2, quantity: 2 });
  const seq = await change(till.text, { petId: 2, quantity: 20, reason: "first" });
  const later = await change(shop.text, { petId: 2, quantity: 15, reason: "five sold" });
  await rowOf(seq).getByText("Undo").click();
  await page.locator("dialog button[type=submit]").click();
  const conflict = page.locator("dialog", { hasText: "has changed since then" });
  await conflict.waitFor();
  const text = (await conflict.textContent())!;
  for (const part of ["20 → 15", "Web shop", "five sold", "15 → 2"]) {
    expect(text).toContain(part);
  }
  expect(await lastRow()).toMatchObject({ seq: later });
  expect(await seriousFindings(page)).toEqual([]);
  await conflict.getByText("Set it to 2, pending").click();
  await rowOf(later + 1).waitFor();
  expect(await lastRow()).toMatchObject({ seq: later + 1, after: { quantity: 2 } });
});
