import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { apiErrorCodes } from "../src/domain/running/errors.ts";
import { webhooks } from "../src/http/api/contract/webhooks.ts";
import { closeBrowser } from "./support/browser.ts";
import { apiDocument, documentedOperations } from "./support/contract/document.ts";
import {
  enterKey,
  expectNoComplaints,
  type OpenPage,
  openPage,
  send,
} from "./support/reference.ts";
import { startTestService, type TestService } from "./support/service.ts";

const wideId = "9223372036854775807";
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
    for (const [type, { post }] of Object.entries(webhooks)) {
      const { schema } = post.requestBody.content["application/json"];
      const names = post.parameters.map(({ name }) => name);
      for (const piece of [type, post.summary, schema.$ref.split("/").at(-1)!, ...names]) {
        expect(texts.get(post.operationId)).toContain(piece);
      }
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

test("the API key is kept in memory only, and is gone after a reload", async () => {
  await enterKey(page, key);
  expect(await page.locator("#key-button").textContent()).toContain("API key set");
  await page.click("#contents a[href='#errors']");
  expect(page.url()).toEndWith("#errors");
  expect(await send(page, "getLedgerHead")).toContain("200");
  expect(await page.locator("#key-note").textContent()).toContain("in memory");
  const stored = await page.evaluate(() =>
    JSON.stringify([localStorage, sessionStorage, document.cookie]),
  );
  expect(stored).toBe('[{},{},""]');
  expect(opened.requested.filter((url) => url.includes(key))).toEqual([]);
  expect(await page.content()).not.toContain(key);
  await page.reload();
  expect(await page.inputValue("#key")).toBe("");
  expect(await page.locator("#key-button").textContent()).toContain("Enter API key");
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
