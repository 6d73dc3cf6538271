import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { apiErrorCodes } from "../src/domain/running/errors.ts";
import { closeBrowser } from "./support/browser.ts";
import { apiDocument, documentedOperations } from "./support/contract/document.ts";
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

const wideId = "9223372036854775807";
const desktop = { width: 1280, height: 800 };
let service: TestService;
let key: string;
let docs: string;
let opened: OpenPage;
let page: Page;

beforeAll(async () => {
  service = await startTestService();
  key = (await service.issueKey()).text;
  await service.addPets({ petId: 7n, quantity: 3 }, { petId: BigInt(wideId), quantity: 1 });
  docs = new URL("/docs", service.baseUrl).href;
  opened = await openPage(docs);
  page = opened.page;
});
afterAll(async () => {
  await closeBrowser();
  await service.stop();
});

test("the page loads only its own files, cannot be framed and parses no text as HTML", async () => {
  const answer = await service.call("GET", "~/docs");
  const policy = answer.headers.get("content-security-policy")!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
  expect(policy).not.toMatch(/https?:|unsafe|\*/);
  expect((await service.call("POST", "~/docs")).status).toBe(405);
  expect(answer.text).not.toMatch(
    /<script(?! (?:type="module" )?src="\/docs)|<style| on\w+="| style="/,
  );
});

describe("without JavaScript, the page", () => {
  let plain: OpenPage;
  beforeAll(async () => {
    plain = await openPage(docs, { javaScriptEnabled: false });
  });
  afterAll(async () => {
    expectNoComplaints(plain, docs);
    await plain.context.close();
  });

  test("shows every operation with its parameters, statuses, headers and schemas", async () => {
    const sections = await plain.page
      .locator(".operation, .schema")
      .evaluateAll((all) => all.map((one) => [one.id, one.textContent!] as const));
    const texts = new Map(sections);
    for (const { path, method, operation } of documentedOperations) {
      const responses = Object.entries(operation.responses);
      const expected = [
        method,
        path,
        operation.summary,
        ...(operation.parameters ?? []).flatMap(({ name, example }) => [name, String(example)]),
        ...Object.keys(operation.requestBody?.content ?? {}),
        ...responses.flatMap(([status, { headers, "x-error-codes": codes = [] }]) => [
          status,
          ...codes,
          ...Object.keys(headers),
        ]),
      ];
      for (const piece of expected) expect(texts.get(operation.operationId)).toContain(piece);
    }
    for (const name of Object.keys(apiDocument.components.schemas)) {
      expect(texts.get(`schema-${name}`)).toContain(name);
    }
    for (const code of apiErrorCodes) expect(texts.get("schema-Error")).toContain(code);
    const facts = plain.page.locator(".facts");
    expect(await facts.textContent()).toContain(apiDocument.info.contact.name);
    const links = await facts
      .locator("a")
      .evaluateAll((all) => all.map((a) => a.getAttribute("href")));
    const { url } = apiDocument.info.license;
    expect(links).toEqual(["/openapi.json", "/openapi-3.0.json", url]);
  });

  test("has the usual headings, each with a link, renders all Markdown and has no dead link", async () => {
    const headings = await plain.page.locator("main :is(h2, h3) > a").allTextContents();
    const usual = ["Authentication", "Rate limits", "Errors", "Responses", "Versioning"];
    expect(headings).toEqual(expect.arrayContaining([...usual, "Error codes"]));
    const text = (await plain.page.locator("main .prose").allInnerTexts()).join("\n");
    expect(text).not.toMatch(/`|\*\*|^#|^- |\]\(/m);
    const dead = await plain.page
      .locator('a[href^="#"]')
      .evaluateAll((links) =>
        links
          .map((link) => link.getAttribute("href")!.slice(1))
          .filter((id) => !document.getElementById(id)),
      );
    expect(dead).toEqual([]);
  });

  test("shows samples in every language, and no control that does nothing", async () => {
    const sample = plain.page.locator("#updateInventory .sample");
    expect(await sample.locator("pre").filter({ visible: true }).textContent()).toStartWith("curl");
    await sample.getByText("Python", { exact: true }).click();
    expect(await sample.locator("pre").filter({ visible: true }).textContent()).toStartWith(
      "import os",
    );
    expect(await plain.page.locator("form fieldset.card:not([disabled])").count()).toBe(0);
    const buttons = plain.page
      .locator("button:not(fieldset[disabled] *)")
      .filter({ visible: true });
    expect(await buttons.count()).toBe(0);
    expect(await plain.page.locator("noscript").textContent()).toContain("require JavaScript");
  });
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

test("the navigation marks the section that is read", async () => {
  const marked = page.locator("#contents [aria-current=location]");
  for (const id of ["errors", "listHistory", "schemas", "error-codes"]) {
    await page.locator(`#${id}`).evaluate((section) => section.scrollIntoView());
    await page.locator(`#contents a[href="#${id}"][aria-current=location]`).waitFor();
    expect(await marked.count()).toBe(1);
    expect(await marked.isVisible()).toBe(true);
  }
});

test("a heading is a link to its section", async () => {
  await page.locator("#listOrders h2 a").click();
  expect(page.url()).toEndWith("#listOrders");
  const top = await page
    .locator("#listOrders h2")
    .evaluate((heading) => heading.getBoundingClientRect().top);
  const bar = await page.locator(".topbar").evaluate((one) => one.getBoundingClientRect().bottom);
  expect(top).toBeGreaterThan(bar);
  expect(top).toBeLessThan(bar + 200);
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
  afterAll(() => page.setViewportSize(desktop));

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

test("nothing above made a request to another host, an error or a violation of the policy", async () => {
  expectNoComplaints(opened, docs);
  // A violation would have been reported.
  const [message] = await Promise.all([
    page.waitForEvent("console"),
    page.evaluate(() => {
      const style = document.createElement("style");
      style.textContent = "body { color: red }";
      document.head.append(style);
    }),
  ]);
  expect(message.text()).toContain("Content Security Policy");
  expect(opened.complaints).toContain(message.text());
});
