import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { closeBrowser } from "./support/browser.ts";
import { documentedOperations } from "./support/contract/document.ts";
import {
  enterKey,
  expectNoComplaints,
  fillForm,
  type OpenPage,
  openPage,
  requestForm,
  send,
} from "./support/reference.ts";
import { startTestService, type TestService } from "./support/service.ts";

/** The forms of the page at /docs: the key, the samples and the requests. */

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
  opened = await openPage(docs, { permissions: ["clipboard-read", "clipboard-write"] });
  page = opened.page;
  await keepForms();
});
afterAll(async () => {
  expectNoComplaints(opened, docs);
  await closeBrowser();
  await service.stop();
});

/** Removes what has no form. The browser would lay it out again after each action. */
async function keepForms(): Promise<void> {
  await page.locator(".schema, .responses").evaluateAll((all) => {
    for (const one of all) one.remove();
  });
}

async function reload(): Promise<void> {
  await page.reload();
  await keepForms();
}

const copied = () => page.evaluate(() => navigator.clipboard.readText());

describe("the request form", () => {
  beforeAll(() => enterKey(page, key));

  test("shows every digit of the response, and its headers", async () => {
    const list = await send(page, "listInventory");
    expect(list).toContain(`"petId": ${wideId}`);
    expect(list).toContain("x-ratelimit-remaining");
    await fillForm(page, "updateInventory", { petId: wideId, body: '{"quantity": 41}' });
    expect(await send(page, "updateInventory")).toContain('"quantity": 41');
    const after = await service.call("GET", "/inventory", { key });
    expect(after.text).toContain(`{"petId":${wideId},"quantity":41,`);
    const etag = /etag("[^"]+")/.exec(await send(page, "listInventory"))![1]!;
    await fillForm(page, "listInventory", { "If-None-Match": etag });
    expect(await send(page, "listInventory")).toContain("304");
    expect(await send(page, "getPet")).toContain("deprecation");
    await fillForm(page, "listOrders", { limit: "0" });
    expect(await send(page, "listOrders")).toContain("'limit' must be an integer");
  });

  test("checks the fields before it sends, and moves the focus to the first that is wrong", async () => {
    const sentBefore = opened.requested.length;
    const submit = async (id: string) => {
      const form = requestForm(page, id);
      await form.locator("button[type=submit]").click();
      const focused = await page.evaluate(() => document.activeElement!.id);
      const wrong = form.locator(":is(input, textarea):invalid");
      return [focused, ...(await wrong.evaluateAll((all) => all.map((one) => one.id)))];
    };
    const [petId, body] = ["updateInventory-petId", "updateInventory-body"];
    await fillForm(page, "updateInventory", { petId: "", body: '{"quantity": ' });
    expect(await submit("updateInventory")).toEqual([petId, petId, body]);
    await fillForm(page, "updateInventory", { petId: "seven" });
    expect(await submit("updateInventory")).toEqual([petId, petId, body]);
    await fillForm(page, "updateInventory", { petId: "7" });
    expect(await submit("updateInventory")).toEqual([body, body]);
    const message = await page
      .locator(`#${body}`)
      .evaluate((control) => (control as HTMLTextAreaElement).validationMessage);
    expect(message).toBe("The request body must be valid JSON.");
    const limit = page.locator("#listOrders-limit");
    await fillForm(page, "listOrders", { limit: "many" });
    await page.locator("#listOrders details.optional > summary").click();
    expect(await limit.isVisible()).toBe(false);
    expect(await submit("listOrders")).toEqual(["listOrders-limit", "listOrders-limit"]);
    expect(await limit.isVisible()).toBe(true);
    expect(opened.requested.length).toBe(sentBefore);
    await fillForm(page, "updateInventory", { body: '{"quantity": 4}' });
    expect(await send(page, "updateInventory")).toContain('"quantity": 4');
    expect(await submit("updateInventory")).toHaveLength(1);
  });

  test("sends a batch, a filter, a reason in any language and a moment, and shows what was replayed", async () => {
    const fields = {
      petId: "7",
      "Idempotency-Key": '"form-1"',
      "X-Change-Reason": "Grüße 🐢, 100%",
    };
    await fillForm(page, "updateInventory", fields);
    expect(await send(page, "updateInventory")).not.toContain("idempotent-replayed");
    expect(await send(page, "updateInventory")).toContain("idempotent-replayed");
    expect(await send(page, "listHistory")).toContain('"reason": "Grüße 🐢, 100%"');
    expect(await send(page, "applyChanges")).toContain('"version"');
    await fillForm(page, "listChanges", { cause: "import" });
    const changes = await send(page, "listChanges");
    expect(changes).toContain('"cause": "import"');
    expect(changes).not.toContain('"cause": "api"');
    await fillForm(page, "getSnapshot", { moment: "2026-11-15T12:00:00Z" });
    expect(await send(page, "getSnapshot")).toContain("content-location/v1/snapshots/");
  });

  test("copies a response as it was sent", async () => {
    const response = page.waitForResponse("**/v1/inventory");
    await fillForm(page, "listInventory", { "If-None-Match": "" });
    await send(page, "listInventory");
    await requestForm(page, "listInventory").locator("[data-result] button").click();
    expect(await copied()).toBe(await (await response).text());
    expect(await page.locator("#announcement").textContent()).toBe("Copied");
  });
});

describe("the API key", () => {
  test("is asked for if it is missing, and removed when it is cleared", async () => {
    const complaint = () =>
      page.locator("#key").evaluate((input) => (input as HTMLInputElement).validationMessage);
    await reload();
    await requestForm(page, "listInventory").locator("button[type=submit]").click();
    expect(await page.evaluate(() => document.activeElement!.id)).toBe("key");
    expect(await complaint()).toContain("Enter your API key");
    await page.fill("#key", "not a key");
    await page.keyboard.press("Enter");
    await requestForm(page, "listInventory").locator("button[type=submit]").click();
    expect(await complaint()).toBe("This is not an API key.");
    await page.click("#key-form button[type=reset]");
    expect(await page.inputValue("#key")).toBe("");
    await page.keyboard.press("Escape");
    expect(await page.locator("#key-panel").isVisible()).toBe(false);
  });
});

describe("the samples", () => {
  const sample = (id: string) => page.locator(`form[data-operation=${id}] .sample`).first();
  const shown = (id: string) => sample(id).locator("pre").filter({ visible: true }).textContent();
  const choose = (id: string, language: string) =>
    sample(id).getByText(language, { exact: true }).click();

  test("are all in the language that was chosen for one of them, and follow the form", async () => {
    await choose("getInventory", "Python");
    const all = page.locator("form[data-operation] .sample pre").filter({ visible: true });
    const texts = await all.allTextContents();
    // The operation of the feed has two.
    expect(texts).toHaveLength(documentedOperations.length + 1);
    for (const text of texts) expect(text).toStartWith("import os\nimport urllib.request\n");
    await fillForm(page, "getInventory", { petId: wideId });
    expect(await shown("getInventory")).toContain(`/v1/inventory/${wideId}"`);
    await choose("listOrders", "JavaScript");
    expect(await shown("getInventory")).toContain(`fetch("${service.baseUrl}/inventory/${wideId}"`);
  });

  test("are copied without the key, unless the user asks for it, and never show it", async () => {
    await enterKey(page, key);
    for (const language of ["curl", "Python"]) {
      await choose("updateInventory", language);
      await sample("updateInventory").locator("[data-copy]").click();
      const text = await copied();
      expect(text).toBe((await shown("updateInventory"))!);
      expect(text).toContain("API_KEY");
    }
    await page.click("#key-button");
    await page.getByText("Include my key in copied samples").click();
    await page.keyboard.press("Escape");
    for (const language of ["curl", "JavaScript", "Python"]) {
      await choose("updateInventory", language);
      await sample("updateInventory").locator("[data-copy]").click();
      const text = await copied();
      expect(text).toContain(key);
      expect(text).not.toContain("API_KEY");
    }
    expect(await page.locator("main").textContent()).not.toContain(key);
    await reload();
    expect(await page.isChecked("#include-key")).toBe(false);
  });
});
