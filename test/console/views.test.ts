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
  openConsole,
  phone,
  showView,
  tooWide,
  visitConsole,
} from "../support/console.ts";
import { program } from "../support/program.ts";
import { startTestService, type TestService } from "../support/service.ts";

/** Every view on PostgreSQL, with long names, on a phone with the dark theme. */

const markup = `<img src=x onerror="document.title='stolen'">`;
let service: TestService;
let opened: ConsolePage;
let page: Page;
/** A narrow window on a desktop, which does not scale its content as a phone does. */
let other: ConsolePage;
let narrow: Page;
const ids = { key: "", webhook: "" };

beforeAll(async () => {
  const flags = { "webhooks-allow-insecure": "on", "webhooks-allowed-networks": "127.0.0.0/8" };
  service = await startTestService("postgres", flags, {}, { program });
  const till = await service.issueKey({ name: "Till 🦜 ".repeat(12) });
  const name = `\u202e${"Maximilian".repeat(20)}`;
  await service.addPets({ petId: 1n, name: "Rex" }, { petId: -9223372036854775808n, name });
  const order = { line: 1, id: 1n, petId: 1n, quantity: 1, shipDate: null, complete: false };
  await service.addOrders({ ...order, status: "placed" });
  const changes = [{ petId: 1, quantity: 9_007_199_254_740_991, reason: "x".repeat(200) }];
  await service.call("POST", "/changes", { key: till.text, body: JSON.stringify({ changes }) });
  ids.key = (await service.issueKey({ name: `${markup} ${"x".repeat(150)}` })).id;
  const { text: key } = await issueOperator(service, "Grace");
  const webhook = { name: "z".repeat(150), url: `http://127.0.0.1:1024/${"y".repeat(150)}` };
  const body = JSON.stringify(webhook);
  const { json } = await service.call("POST", "~/admin/webhooks", { key, body });
  ids.webhook = (json as { id: string }).id;

  opened = await visitConsole(service, "", { ...phone, colorScheme: "dark" });
  page = opened.page;
  await enterOperatorKey(page, key);
  await page.locator("[data-connection=live]").waitFor();
  other = await openConsole(service, "", { viewport: { width: 320, height: 844 } });
  narrow = other.page;
});
afterAll(async () => {
  for (const one of [opened, other]) {
    expectNoComplaints(one, service);
    await one.context.close();
  }
  await closeBrowser();
  await service.stop();
});

/** What each view shows once it has loaded. */
const shown: Record<string, string> = {
  "/overview": ".chart svg",
  "/stock": "[data-pet='1']",
  "/stock/count": "#count-id:enabled",
  "/activity": "[data-seq]",
  "/history": ".pet-choices",
  "/history/1": ".step-line",
  "/history/moment?at=1": "[role=table] >> text=Rex",
  "/import": ".exports",
  "/orders": "tbody >> text=Rex",
  "/keys": ".key-name",
  "/keys/{key}": "h1 >> text=onerror",
  "/webhooks": "table >> text=zzz",
  "/webhooks/{webhook}": "h1 >> text=zzz",
  "/backups": "text=Make a backup now",
  "/audit": ".audit-action",
};

const addressOf = (path: string) =>
  path.replace("{key}", ids.key).replace("{webhook}", ids.webhook);

test("the list above has every view", () => {
  expect(views.map(({ path }) => path).filter((path) => !(path in shown))).toEqual([]);
});

test.each(Object.entries(shown))(
  "%s works with PostgreSQL, and with long names on a phone",
  async (path, content) => {
    await showView(page, addressOf(path));
    await page.locator(content).first().waitFor();
    await page.waitForFunction(() => !document.querySelector(".loading"));
    expect(await page.getByRole("alert").filter({ hasText: /./ }).allTextContents()).toEqual([]);
    expect(await fitsWidth(page)).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    expect(await page.locator("#content img").count()).toBe(0);
  },
);

test.each(Object.keys(shown))(
  "%s has a place for everything on screens from 320 px, on phones also in larger letters",
  async (path) => {
    await showView(narrow, addressOf(path));
    await narrow.locator(shown[path]!).first().waitFor();
    await narrow.waitForFunction(() => !document.querySelector(".loading"));
    const found: Record<string, readonly string[]> = {};
    for (const width of [320, 375, 390, 414, 447, 720, 1024, 1280]) {
      await narrow.setViewportSize({ width, height: 844 });
      for (const size of width < 450 ? [16, 20] : [16]) {
        await narrow.evaluate((px) => {
          document.documentElement.style.fontSize = `${px}px`;
        }, size);
        const parts = await tooWide(narrow);
        if (parts.length > 0) found[`${width} px with letters of ${size} px`] = parts;
      }
    }
    expect(found).toEqual({});
  },
);

test("the navigation is a menu, which closes when a view is chosen", async () => {
  const link = page.locator("nav >> text=Stock");
  expect(await link.isVisible()).toBe(false);
  await page.click("[aria-label=Menu]");
  await link.click();
  await link.waitFor({ state: "hidden" });
  await page.locator(shown["/stock"]!).waitFor();
});

test("the form of a new key fits on a phone", async () => {
  await showView(page, "/keys");
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("radio", { name: "Enterprise" }).check();
  expect(await fitsWidth(page)).toBe(true);
  expect(await seriousFindings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

test("an import explains every bad row and imports nothing, on PostgreSQL too", async () => {
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
