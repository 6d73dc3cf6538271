import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { closeBrowser } from "./support/browser.ts";
import {
  contrasts,
  enterKey,
  expectNoComplaints,
  type OpenPage,
  openAllDetails,
  openPage,
  send,
  seriousFindingsOfDocs,
} from "./support/reference.ts";
import { startTestService, type TestService } from "./support/service.ts";

/** The page at /docs: its search, both themes, and a phone. */

let service: TestService;
let key: string;
let docs: string;
let opened: OpenPage;
let page: Page;

beforeAll(async () => {
  service = await startTestService();
  key = (await service.issueKey()).text;
  await service.addPets({ petId: 7n, quantity: 3 });
  docs = new URL("/docs", service.baseUrl).href;
  opened = await openPage(docs);
  page = opened.page;
});
afterAll(async () => {
  expectNoComplaints(opened, docs);
  await closeBrowser();
  await service.stop();
});

describe("the search", () => {
  const results = () => page.locator("#search-results [role=option]");
  const find = async (query: string) => {
    await page.fill("#search-input", query);
    return results().allTextContents();
  };

  test("opens with a slash and finds operations, schemas, headers, error codes and headings", async () => {
    await page.keyboard.press("/");
    expect(await page.evaluate(() => document.activeElement!.id)).toBe("search-input");
    const summary = page.locator("#search-summary");
    for (const [query, first] of [
      ["update stock", "Update the stock of a pet PATCH /inventory/{petId}Operation"],
      ["/store/orders", "List orders GET /store/ordersOperation"],
      ["ledgerrow", "LedgerRowSchema"],
      ["inventory.changed", "Stock has changedWebhook"],
      ["retry-after", "Retry-AfterHeader"],
      ["KEY_BANNED", "key_bannedError code"],
      ["410", "goneError code"],
      ["versioning", "VersioningSection"],
    ] as const) {
      const found = await find(query);
      expect(found[0]).toBe(first);
      expect(await summary.textContent()).toBe(
        found.length === 1 ? "1 result" : `${found.length} results`,
      );
    }
    expect(await find("the")).toHaveLength(20);
    expect(await summary.textContent()).toMatch(/^The best 20 of [2-9]\d results$/);
    expect(await find("gibberish <b>")).toEqual([]);
    expect(await summary.textContent()).toBe("No results for “gibberish <b>”.");
    expect(await summary.getAttribute("role")).toBe("status");
  });

  test("is used with the keyboard alone, and gives the focus back", async () => {
    await find("rate limit");
    const active = async () => {
      const id = await page.getAttribute("#search-input", "aria-activedescendant");
      return page.locator(`#${id}[aria-selected=true]`).textContent();
    };
    const all = await results().allTextContents();
    expect(await active()).toBe(all[0]!);
    await page.keyboard.press("ArrowDown");
    expect(await active()).toBe(all[1]!);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    expect(await active()).toBe(all.at(-1)!);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(page.url()).toEndWith("#rate-limits");
    expect(await page.locator("#search").isVisible()).toBe(false);
    await page.click("[data-search-button]");
    await page.keyboard.press("Escape");
    expect(await page.locator("#search").isVisible()).toBe(false);
    expect(await page.evaluate(() => document.activeElement!.textContent)).toContain("Search");
  });

  test("leaves a slash in a field alone", async () => {
    const field = page.locator("#getSnapshot-moment");
    await field.focus();
    await page.keyboard.type("/");
    expect(await field.inputValue()).toContain("/");
    expect(await page.locator("#search").isVisible()).toBe(false);
  });
});

describe("the page is readable", () => {
  test("in the light and the dark theme, by the system or by choice, with enough contrast everywhere", async () => {
    const brightness = async () => {
      const color = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      return Math.max(...color.match(/\d+/g)!.map(Number)) > 128 ? "light" : "dark";
    };
    await page.emulateMedia({ colorScheme: "dark" });
    await page.reload();
    expect(await brightness()).toBe("dark");
    await enterKey(page, key);
    await send(page, "listInventory");
    await openAllDetails(page);
    for (const colorScheme of ["light", "dark"]) {
      await page.click("#theme-button");
      expect(await brightness()).toBe(colorScheme);
      const { measured, tooLow } = await page.evaluate(contrasts);
      expect(tooLow).toEqual([]);
      expect(measured).toBeGreaterThan(300);
    }
    await page.emulateMedia({ colorScheme: "light" });
    expect(await brightness()).toBe("dark");
    await page.reload();
    expect(await brightness()).toBe("dark");
    await page.evaluate(() => localStorage.clear());
    await page.emulateMedia({ colorScheme: null });
  });

  test("with a keyboard and a screen reader", async () => {
    await page.goto("about:blank");
    await page.goto(docs);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
    expect(await page.locator("h1").count()).toBe(1);
    for (const landmark of ["main", "nav[aria-label]", "header.topbar"]) {
      expect(await page.locator(landmark).count()).toBe(1);
    }
    await enterKey(page, key);
    await send(page, "listChanges");
    await openAllDetails(page);
    await page.click("#key-button");
    expect(await seriousFindingsOfDocs(page)).toEqual([]);
  });
});

describe("on a phone, the page", () => {
  beforeAll(() => page.setViewportSize({ width: 320, height: 700 }));

  test("needs no horizontal scrolling", async () => {
    await page.reload();
    await enterKey(page, key);
    await send(page, "listInventory");
    await openAllDetails(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  });

  test("has a menu that closes when a section is chosen", async () => {
    const menu = page.locator("#contents");
    expect(await menu.isVisible()).toBe(false);
    await page.click(".menu-button");
    expect(await menu.isVisible()).toBe(true);
    await menu.getByText("Error codes").click();
    expect(await menu.isVisible()).toBe(false);
    expect(page.url()).toEndWith("#error-codes");
    await page.click(".menu-button");
    await menu.getByText("Close").click();
    expect(await menu.isVisible()).toBe(false);
    await page.click(".menu-button");
    expect(await seriousFindingsOfDocs(page)).toEqual([]);
  });
});
