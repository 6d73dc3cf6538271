import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { issueOperator } from "../support/admin/operators.ts";
import { anEntry } from "../support/audit.ts";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  consoleUrl,
  enterOperatorKey,
  expectNoComplaints,
  openConsole,
  visitConsole,
} from "../support/console.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService(surfaceEngine);
  await service.addPets({ petId: 7n, name: "Rex", quantity: 3 });
});
afterAll(async () => {
  await closeBrowser();
  await service.stop();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  service.call("GET", `~${path}`, { headers });

describe("the sign-in", () => {
  let visited: ConsolePage;
  let page: Page;
  beforeAll(async () => {
    visited = await visitConsole(service, "/stock?x=1");
    page = visited.page;
  });
  afterAll(async () => {
    expectNoComplaints(visited, service);
    await visited.context.close();
  });

  test("explains what is wrong with a key, and keeps no key on the page", async () => {
    const refusal = page.locator("#operator-key-error");
    const api = await service.issueKey();
    for (const [key, words] of [
      ["", "Enter your operator key"],
      [api.text, "This is an API key"],
      ["pso_live_wrong", "This key is not valid here"],
      ["ключ", "This is not an operator key"],
    ] as const) {
      await enterOperatorKey(page, key);
      await refusal.filter({ hasText: words }).waitFor();
      expect(await page.inputValue("#operator-key")).toBe("");
    }
    expect(await page.getAttribute("#operator-key", "type")).toBe("password");
    expect(await seriousFindings(page)).toEqual([]);
  });

  test("leads to the view of the address and ends with the sign-out, for the old cookie too", async () => {
    const { context } = visited;
    const operator = await issueOperator(service, "Grace");
    await enterOperatorKey(page, operator.text);
    await page.locator("h1", { hasText: "Stock" }).waitFor();
    expect(page.url()).toBe(consoleUrl(service, "/stock?x=1"));
    expect(await page.title()).toBe("Stock – Pet Store Inventory");
    expect(await page.locator(".operator").textContent()).toBe("Grace");
    const cookies = await context.cookies();
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: "Strict", path: "/" }]);
    const stored = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
    expect(stored + (await page.content()) + visited.requested.join()).not.toContain(operator.text);
    await page.click("[aria-label='Sign out']");
    await page.getByText("You have signed out.").waitFor();
    expect(await context.cookies()).toEqual([]);
    const old = `${cookies[0]!.name}=${cookies[0]!.value}`;
    expect((await get("/admin/session", { Cookie: old })).status).toBe(401);
    await page.reload();
    await page.locator("#operator-key").waitFor();
  });

  test("leaves nothing of an edit whose answer comes after the sign-out, not even its Undo", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await enterOperatorKey(page, (await issueOperator(service, "Grace")).text);
    await page.locator("[data-pet='7'] .cell-quantity").click();
    await page.route("**/admin/stock/7", async (route) => {
      const response = await route.fetch();
      await released;
      await route.fulfill({ response });
    });
    const answered = page.waitForResponse("**/admin/stock/7");
    await page.keyboard.type("8\n");
    await page.getByLabel("Sign out").click();
    await enterOperatorKey(page, (await issueOperator(service, "Ada")).text);
    await page.locator("[data-pet='7'] .cell-quantity", { hasText: "8" }).waitFor();
    release();
    await (await answered).finished();
    // The page has handled the answer when it has drawn twice.
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    expect(await page.locator(".toast").count()).toBe(0);
    await page.unroute("**/admin/stock/7");
    await page.getByLabel("Sign out").click();
    await page.getByText("You have signed out.").waitFor();
  });

  test("takes the Undo of an edit along, so that nobody else can press it", async () => {
    await enterOperatorKey(page, (await issueOperator(service, "Grace")).text);
    await page.locator("[data-pet='7'] .cell-quantity").click();
    await page.keyboard.type("9\n");
    await page.locator(".toast").getByText("Undo").waitFor();
    await page.getByLabel("Sign out").click();
    await page.getByText("You have signed out.").waitFor();
    expect(await page.locator(".toast").count()).toBe(0);
  });

  test("is asked for again when the key is revoked, and another key continues in the same view without its edit", async () => {
    const { id, text } = await issueOperator(service, "Mallory");
    await enterOperatorKey(page, text);
    await page.locator("[data-connection=live]").waitFor();
    await page.locator("[data-pet='7'] .cell-quantity").click();
    await page.keyboard.type("99");
    await service.store.keys.revokeKey(id, service.clock.now(), anEntry);
    await page.getByText("Your session has ended").waitFor();
    await enterOperatorKey(page, (await issueOperator(service, "Ada")).text);
    await page.locator("[data-connection=live]").waitFor();
    expect(page.url()).toBe(consoleUrl(service, "/stock?x=1"));
    expect(await page.locator("[data-pet='7'] .cell-quantity").textContent()).toBe("9");
  });
});

describe("signed in", () => {
  let opened: ConsolePage;
  beforeAll(async () => {
    opened = await openConsole(service);
  });
  afterAll(async () => {
    expectNoComplaints(opened, service, [/ERR_FAILED/]);
    await opened.context.close();
  });

  test("the first view and the Stock view each need at most 60 kB, compressed", async () => {
    const { page } = opened;
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.locator(".chart svg").waitFor();
    expect(await compressedBytes()).toBeLessThanOrEqual(60_000);
    const earlier = opened.requested.length;
    await page.goto(consoleUrl(service, "/stock"));
    await page.getByRole("grid").waitFor();
    expect(await compressedBytes(earlier)).toBeLessThanOrEqual(60_000);
  });

  /** The size of everything that this page has loaded since a request, except the data. */
  async function compressedBytes(start = 0): Promise<number> {
    const loaded = new Set(opened.requested.slice(start).filter((url) => !url.includes("/admin/")));
    const names = [...loaded].map((url) => new URL(url).pathname);
    for (const part of ["/console", "main-", ".css"]) {
      expect(names.filter((name) => name.includes(part))).not.toEqual([]);
    }
    const files = await Promise.all(names.map(async (name) => (await get(name)).text));
    return files.reduce((sum, text) => sum + gzipSync(text).length, 0);
  }

  test("the keyboard help opens with a question mark, and gives the focus back", async () => {
    const { page } = opened;
    await page.locator(".brand").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).getByText("Select several rows").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.activeElement?.className)).toBe("brand");
  });

  test("the theme follows the system, until somebody chooses one", async () => {
    const { page } = opened;
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.click("[aria-label='Use the light theme']");
    expect(await background()).toBe(light);
    await page.reload();
    await page.locator("[data-connection=live]").waitFor();
    expect(await background()).toBe(light);
    await page.click("[aria-label='Use the dark theme']");
    expect(await background()).toBe(dark);
    await page.emulateMedia({ colorScheme: "light" });
  });

  test("the theme that is chosen here or at /docs is used in both", async () => {
    const page = await opened.context.newPage();
    const theme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    await page.goto(consoleUrl(service));
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await page.click("[aria-label='Use the dark theme']");
    await page.goto(new URL("/docs", service.baseUrl).href);
    expect(await theme()).toBe("dark");
    await page.click("[aria-label='Use the light theme']");
    await page.goto(consoleUrl(service));
    await page.locator("[aria-label='Use the dark theme']").waitFor();
    expect(await theme()).toBe("light");
    await page.close();
  });

  test("the skip link leads to the content", async () => {
    const { page } = opened;
    await page.locator(".skip-link").focus();
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
  });

  test("a view whose code cannot be loaded says so", async () => {
    const { page, context } = opened;
    const other = await context.newPage();
    await other.route("**/assets/*view-*", (route) => route.abort());
    await other.goto(consoleUrl(service, "/stock"));
    await other.getByText("This page could not be loaded").waitFor();
    await other.unroute("**/assets/*view-*");
    await other.getByText("Reload the console").click();
    await other.locator("h1", { hasText: "Stock" }).waitFor();
    await other.close();
    await page.bringToFront();
  });

  test("an unknown address says so and leads back, and another view gets the focus", async () => {
    const { page } = opened;
    const focusedId = () => page.evaluate(() => document.activeElement?.id);
    await page.goto(consoleUrl(service, "/nowhere"));
    await page.getByText("There is no such page").waitFor();
    expect(await focusedId()).toBe("");
    await page.click("text=Open the overview");
    await page.locator("[aria-current=page]").waitFor();
    expect(page.url()).toBe(consoleUrl(service));
    expect(await focusedId()).toBe("content");
  });
});
