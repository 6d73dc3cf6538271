import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { views } from "../../src/console/frame/views.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  enterOperatorKey,
  expectNoComplaints,
  fitsWidth,
  phone,
  showView,
  visitConsole,
} from "../support/console.ts";
import { type FullStore, shown, startFullStore } from "../support/full-store.ts";
import { surfaceEngine, type TestService } from "../support/service.ts";

/** Every view with long names, on a phone with the dark theme. */

let store: FullStore;
let service: TestService;
let opened: ConsolePage;
let page: Page;

beforeAll(async () => {
  store = await startFullStore(surfaceEngine);
  ({ service } = store);
  const { text: key } = await issueOperator(service, "Grace");
  opened = await visitConsole(service, "", { ...phone, colorScheme: "dark" });
  page = opened.page;
  await enterOperatorKey(page, key);
  await page.locator("[data-connection=live]").waitFor();
});
afterAll(async () => {
  expectNoComplaints(opened, service);
  await closeBrowser();
  await service.stop();
});

test("every view has a test", () => {
  expect(views.map(({ path }) => path).filter((path) => !(path in shown))).toEqual([]);
});

test.each(Object.entries(shown))("%s works, with long names on a phone", async (path, content) => {
  await showView(page, store.addressOf(path));
  await page.locator(content).first().waitFor();
  await page.waitForFunction(() => !document.querySelector(".loading"));
  expect(await page.getByRole("alert").filter({ hasText: /./ }).allTextContents()).toEqual([]);
  expect(await fitsWidth(page)).toBe(true);
  expect(await seriousFindings(page)).toEqual([]);
  expect(await page.locator("#content img").count()).toBe(0);
});

test("the navigation is a menu, which closes when a view is chosen", async () => {
  const link = page.locator("nav >> text=Stock");
  expect(await link.isVisible()).toBe(false);
  await page.click("[aria-label=Menu]");
  await link.click();
  await link.waitFor({ state: "hidden" });
  await page.locator(shown["/stock"]!).waitFor();
});

test("an import explains every bad row and imports nothing", async () => {
  const { seq } = await service.store.inventory.readHead();
  await showView(page, "/import");
  const buffer = Buffer.from("petId,name,quantity\n1,Rex,many\n2,Mia,5\n");
  await page.setInputFiles("#import-file", { name: "pets.csv", mimeType: "text/csv", buffer });
  const problems = page.getByRole("region", { name: "Problems", exact: true });
  await problems.getByText("must be an integer").waitFor();
  expect(await problems.locator("tbody tr").count()).toBe(1);
  expect((await service.store.inventory.readHead()).seq).toBe(seq);
});

test("the sign-out ends the session, for the old cookie too", async () => {
  const [cookie] = await opened.context.cookies();
  await page.getByLabel("Sign out").click();
  await page.getByText("You have signed out.").waitFor();
  const headers = { Cookie: `${cookie!.name}=${cookie!.value}` };
  expect((await service.call("GET", "~/admin/session", { headers })).status).toBe(401);
});
