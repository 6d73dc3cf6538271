import { afterAll, beforeAll, expect, test } from "bun:test";
import { views } from "../../src/console/views.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  consoleUrl,
  expectNoComplaints,
  fitsWidth,
  openConsole,
  phone,
} from "../support/console.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let opened: ConsolePage;
beforeAll(async () => {
  service = await startTestService("postgres");
  const till = await service.issueKey({ name: "Till 🦜 ".repeat(12) });
  const name = `\u202e${"Maximilian".repeat(20)}`;
  await service.addPets({ petId: 1n, name: "Rex" }, { petId: -9223372036854775808n, name });
  const order = { line: 1, id: 1n, petId: 1n, quantity: 1, shipDate: null, complete: false };
  await service.addOrders({ ...order, status: "placed" });
  const changes = [{ petId: 1, quantity: 9_007_199_254_740_991, reason: "x".repeat(200) }];
  await service.call("POST", "/changes", { key: till.text, body: JSON.stringify({ changes }) });
  opened = await openConsole(service, "", { ...phone, colorScheme: "dark" });
});
afterAll(async () => {
  expectNoComplaints(opened, service);
  await opened.context.close();
  await closeBrowser();
  await service.stop();
});

/** Views whose own tests check them with axe on a phone, which takes a second each. */
const checkedElsewhere = new Set(["/keys", "/webhooks", "/backups", "/audit"]);
const paths = [...views.map(({ path }) => path), "/history/1", "/history/moment?at=1"];

test.each(paths)("%s works with PostgreSQL, and with long names on a phone", async (path) => {
  const { page } = opened;
  await page.goto(consoleUrl(service, path));
  await page.locator("h1.view-title").waitFor();
  await page.locator("[data-connection=live]").waitFor();
  await page.waitForFunction(() => !document.querySelector(".loading, .chart-waiting"));
  expect(await page.getByRole("alert").filter({ hasText: /./ }).allTextContents()).toEqual([]);
  expect(await fitsWidth(page)).toBe(true);
  if (!checkedElsewhere.has(path)) expect(await seriousFindings(page)).toEqual([]);
});
