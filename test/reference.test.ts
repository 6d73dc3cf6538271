import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { errorCodes } from "../src/domain/errors.ts";
import { closeBrowser, type WatchedContext, watchedContext } from "./support/browser.ts";
import { apiDocument, documentedOperations } from "./support/contract/document.ts";
import { startTestService, type TestService } from "./support/service.ts";

const wideId = "9223372036854775807";
let service: TestService;
let key: string;
let docs: string;

beforeAll(async () => {
  service = await startTestService();
  key = (await service.issueKey()).text;
  await service.addPets({ petId: 7n, quantity: 3 }, { petId: BigInt(wideId), quantity: 1 });
  docs = new URL("/docs", service.baseUrl).href;
});
afterAll(async () => {
  await closeBrowser();
  await service.stop();
});

async function open(options: Parameters<typeof watchedContext>[0] = {}) {
  const watched = await watchedContext(options);
  const page = await watched.context.newPage();
  await page.goto(docs);
  return { ...watched, page };
}

const requestForm = (page: Page, id: string) => page.locator(`form[data-operation=${id}]`);

async function send(page: Page, id: string): Promise<string> {
  const form = requestForm(page, id);
  // Remove the previous result, so that it cannot be taken for the new one.
  await form.locator("[data-result]").evaluate((result) => result.replaceChildren());
  await form.locator("button[type=submit]").click();
  await form.locator(".status-line").waitFor();
  return (await form.locator("[data-result]").textContent())!;
}

/** The page sends requests to this service only and logs no errors except those of 40x responses. */
function expectNoErrors({ requested, complaints }: WatchedContext): void {
  const hosts = new Set(requested.map((url) => new URL(url).host));
  expect([...hosts]).toEqual([new URL(docs).host]);
  expect(complaints.filter((text) => !text.includes("status of 40"))).toEqual([]);
}

test("the page loads only its own files and cannot be framed", async () => {
  const answer = await service.call("GET", "~/docs");
  const policy = answer.headers.get("content-security-policy")!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/https?:|unsafe|\*/);
  expect((await service.call("POST", "~/docs")).status).toBe(405);
  expect(answer.text).not.toMatch(/<script(?! type="module" src="\/docs)|<style| on\w+="| style="/);
});

test("the page shows every operation with its parameters, statuses, headers and schemas", async () => {
  const { context, page } = await open();
  for (const { path, method, operation } of documentedOperations) {
    const text = (await page.locator(`#${operation.operationId}`).textContent())!;
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
    for (const piece of expected) expect(text).toContain(piece);
  }
  for (const name of Object.keys(apiDocument.components.schemas)) {
    expect(await page.locator(`#schema-${name}`).count()).toBe(1);
  }
  const error = (await page.locator("#schema-Error").textContent())!;
  for (const code of errorCodes) expect(error).toContain(code);
  const facts = page.locator(".facts");
  expect(await facts.textContent()).toContain(apiDocument.info.contact.name);
  expect(await facts.locator('a[href="/openapi.json"], a[href="/openapi-3.0.json"]').count()).toBe(
    2,
  );
  expect(await facts.locator(`a[href="${apiDocument.info.license.url}"]`).count()).toBe(1);
  // All Markdown in the descriptions is rendered.
  const text = (await page.locator("main .prose").allInnerTexts()).join("\n");
  expect(text).not.toMatch(/`|\*\*|^#|^- |\]\(/m);
  const anchors = await page
    .locator('a[href^="#"]')
    .evaluateAll((links) =>
      links
        .map((link) => link.getAttribute("href")!.slice(1))
        .filter((id) => !document.getElementById(id)),
    );
  expect(anchors).toEqual([]);
  await context.close();
});

describe("the request form", () => {
  test("sends requests to this service only, and shows every digit of the response", async () => {
    const watched = await open();
    const { page, context } = watched;
    expect(await send(page, "listInventory")).toContain("unauthorized");
    await page.fill("#key", key);
    const list = await send(page, "listInventory");
    expect(list).toContain(`"petId": ${wideId}`);
    expect(list).toContain("x-ratelimit-remaining");
    await requestForm(page, "updateInventory").locator("[name=petId]").fill(wideId);
    await requestForm(page, "updateInventory").locator("textarea").fill('{"quantity": 41}');
    expect(await send(page, "updateInventory")).toContain('"quantity": 41');
    const after = await service.call("GET", "/inventory", { key });
    expect(after.text).toContain(`{"petId":${wideId},"quantity":41,`);
    const etag = /etag("[^"]+")/.exec(await send(page, "listInventory"))![1]!;
    await requestForm(page, "listInventory").locator("[name=If-None-Match]").fill(etag);
    expect(await send(page, "listInventory")).toContain("304");
    expect(await send(page, "getPet")).toContain("deprecation");
    await requestForm(page, "listOrders").locator("[name=limit]").fill("0");
    expect(await send(page, "listOrders")).toContain("'limit' must be an integer");
    expectNoErrors(watched);
    await context.close();
  });

  test("sends a batch, a reason in any language and a moment, and shows what was replayed", async () => {
    const { page, context } = await open();
    await page.fill("#key", key);
    const update = requestForm(page, "updateInventory");
    await update.locator("[name=Idempotency-Key]").fill('"form-1"');
    await update.locator("[name=X-Change-Reason]").fill("Grüße 🐢, 100%");
    expect(await send(page, "updateInventory")).not.toContain("idempotent-replayed");
    expect(await send(page, "updateInventory")).toContain("idempotent-replayed");
    expect(await send(page, "listHistory")).toContain('"reason": "Grüße 🐢, 100%"');
    expect(await send(page, "applyChanges")).toContain('"version"');
    const snapshot = requestForm(page, "getSnapshot");
    await snapshot.locator("[name=moment]").fill("2026-11-15T12:00:00Z");
    expect(await send(page, "getSnapshot")).toContain("content-location/v1/snapshots/");
    await context.close();
  });

  test("keeps the key in its tab until it is cleared", async () => {
    const { page, context } = await open();
    await page.fill("#key", key);
    await page.reload();
    expect(await page.inputValue("#key")).toBe(key);
    const other = await context.newPage();
    await other.goto(docs);
    expect(await other.inputValue("#key")).toBe("");
    expect(await page.evaluate(() => localStorage.length + document.cookie.length)).toBe(0);
    await page.click("#key-form button");
    await page.reload();
    expect(await page.inputValue("#key")).toBe("");
    await context.close();
  });
});

// These tests share a page. The last one changes a form.
describe("the request form with a key", () => {
  let page: Page;
  beforeAll(async () => {
    ({ page } = await open({ permissions: ["clipboard-read", "clipboard-write"] }));
    await page.fill("#key", key);
  });
  afterAll(() => page.context().close());

  test("gives curl commands that work when pasted, and does not show the key", async () => {
    for (const { operation } of documentedOperations) {
      const form = requestForm(page, operation.operationId);
      const shown = (await form.locator("[data-curl]").textContent())!;
      expect(shown).not.toContain(key);
      await form.locator("[data-copy]").click();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      for (const line of [`API_KEY=${key}; ${shown}`, copied]) {
        const output = await Bun.$`sh -c ${line}`.quiet().text();
        expect(output.split("\r\n")[0]).toBe("HTTP/1.1 200 OK");
      }
    }
  });

  test("gets pages of changes, and shows a command that follows the feed", async () => {
    expect(await send(page, "listChanges")).toContain('"cause": "import"');
    const shown = await page.locator("[aria-labelledby=listChanges-feed]").textContent();
    expect(shown).toStartWith("curl -N ");
    const line = `API_KEY=${key}; ${shown!.replace("curl -N", "curl -sN --max-time 1")}`;
    const output = await Bun.$`sh -c ${line}`.quiet().nothrow().text();
    expect(output).toContain("event: heartbeat");
  });

  test("quotes the input for the shell in the curl command", async () => {
    const form = requestForm(page, "updateInventory");
    await form.locator("[name=petId]").fill("1/../2");
    await form.locator("textarea").fill(`{"quantity": 1, "note": "it's"}`);
    const line = (await form.locator("[data-curl]").textContent())!;
    expect(line).toContain("/inventory/1%2F..%2F2");
    expect(line).toContain(`'{"quantity": 1, "note": "it'\\''s"}'`);
  });
});

describe("the page is readable with a response and all details", () => {
  let page: Page;
  beforeAll(async () => {
    ({ page } = await open());
    await page.fill("#key", key);
    await send(page, "listInventory");
    await page.locator("details").evaluateAll((all) => {
      for (const one of all) (one as HTMLDetailsElement).open = true;
    });
  });
  afterAll(() => page.context().close());

  for (const colorScheme of ["light", "dark"] as const) {
    test(`in the ${colorScheme} color scheme, with enough contrast everywhere`, async () => {
      await page.emulateMedia({ colorScheme });
      const measured = await page.evaluate(contrasts);
      expect(measured.filter(({ ratio }) => ratio < 4.5)).toEqual([]);
      expect(measured.length).toBeGreaterThan(300);
      const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const brightness = Math.max(...background.match(/\d+/g)!.map(Number));
      expect(brightness > 128).toBe(colorScheme === "light");
    });
  }

  test("on a phone, without horizontal scrolling", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });
});

describe("the page is readable", () => {
  test("without JavaScript", async () => {
    const { page, context } = await open({ javaScriptEnabled: false });
    expect(await page.locator("#listInventory h2").textContent()).toBe("List inventory");
    expect(await page.locator("fieldset:not([disabled])").count()).toBe(0);
    await context.close();
  });

  test("with a screen reader and a keyboard", async () => {
    const { page, context } = await open();
    expect(await page.locator("h1").count()).toBe(1);
    for (const landmark of ["main", "nav[aria-label]"]) {
      expect(await page.locator(landmark).count()).toBe(1);
    }
    const nameless = await page
      .locator("input, textarea, button")
      .evaluateAll(
        (all) =>
          all.filter(
            (one) => !((one as HTMLInputElement).labels?.length || one.textContent?.trim()),
          ).length,
      );
    expect(nameless).toBe(0);
    const levels = await page
      .locator("h1, h2, h3")
      .evaluateAll((all) => all.map((one) => Number(one.tagName[1])));
    for (const [at, level] of levels.entries()) {
      expect(level - (levels[at - 1] ?? 0)).toBeLessThanOrEqual(1);
    }
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to content");
    await context.close();
  });
});

/** Runs in the page. Returns the contrast of every text with its background. */
function contrasts(): { text: string; ratio: number }[] {
  const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const backgroundOf = (element: Element | null): string => {
    if (!element) return "rgb(255, 255, 255)";
    const color = getComputedStyle(element).backgroundColor;
    return channels(color)[3] === 0 ? backgroundOf(element.parentElement) : color;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found: { text: string; ratio: number }[] = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement!;
    const text = walker.currentNode.textContent!.trim();
    if (text === "" || !element.checkVisibility()) continue;
    const [one, other] = [getComputedStyle(element).color, backgroundOf(element)].map(luminance);
    const [high, low] = [Math.max(one!, other!), Math.min(one!, other!)];
    found.push({ text, ratio: (high + 0.05) / (low + 0.05) });
  }
  return found;
}
