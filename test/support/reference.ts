// Opens the page at /docs in a real browser, and uses its forms.

import { expect } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { seriousFindings } from "./axe.ts";
import { type WatchedContext, watchedContext } from "./browser.ts";

export interface OpenPage extends WatchedContext {
  readonly page: Page;
}

export async function openPage(
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const watched = await watchedContext(options);
  watched.context.setDefaultTimeout(120_000);
  const page = await watched.context.newPage();
  await page.goto(url);
  return { ...watched, page };
}

/**
 * The page sent requests to its own service only, and nothing was reported on its console: no
 * violation of its Content-Security-Policy and no error, except those of 40x responses.
 */
export function expectNoComplaints({ requested, complaints }: WatchedContext, url: string): void {
  const hosts = new Set(requested.map((one) => new URL(one).host));
  expect([...hosts]).toEqual([new URL(url).host]);
  expect(complaints.filter((text) => !text.includes("status of 40"))).toEqual([]);
}

export const requestForm = (page: Page, id: string) => page.locator(`form[data-operation=${id}]`);

/** Enters the key as a person does. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await page.click("#key-button");
  await page.fill("#key", key);
  await page.keyboard.press("Enter");
}

/** Fills fields of a form. Optional ones are in a closed group. */
export async function fillForm(page: Page, id: string, fields: Record<string, string>) {
  const form = requestForm(page, id);
  const group = form.locator("details.optional:not([open]) > summary");
  if ((await group.count()) > 0) await group.click();
  for (const [name, value] of Object.entries(fields)) {
    const control = form.locator(`[name="${name}"]`);
    if ((await control.evaluate((one) => one.tagName)) === "SELECT") {
      await control.selectOption(value);
    } else await control.fill(value);
  }
}

/** Sends the request of a form, and returns the text of the result. */
export async function send(page: Page, id: string): Promise<string> {
  const form = requestForm(page, id);
  // Remove the previous result, so that it cannot be taken for the new one.
  await form.locator("[data-result]").evaluate((result) => result.replaceChildren());
  await form.locator("button[type=submit]").click();
  await form.locator(".status-line").waitFor();
  return (await form.locator("[data-result]").textContent())!;
}

export async function openAllDetails(page: Page): Promise<void> {
  await page.locator("details").evaluateAll((all) => {
    for (const one of all) (one as HTMLDetailsElement).open = true;
  });
}

/**
 * Returns the serious and critical findings of axe. Removes most operations, schemas and so on from the
 * page first: the same code renders the others, and axe would take a minute.
 */
export async function seriousFindingsOfDocs(page: Page): Promise<readonly string[]> {
  await page.evaluate(() => {
    const kept = "#updateInventory, #schema-Error, #rate-limits";
    for (const one of document.querySelectorAll(".operation, .schema, .chapter")) {
      if (!one.matches(kept)) one.remove();
    }
    for (const list of document.querySelectorAll(".reference > .fields, .responses")) {
      for (const one of [...list.children].slice(2)) one.remove();
    }
  });
  // The function contrasts measures the contrast of every text of the page.
  return seriousFindings(page, ["color-contrast"]);
}

/** Runs in the page. Measures the contrast of every text with its background. */
export function contrasts(): { measured: number; tooLow: { text: string; ratio: number }[] } {
  const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const backgrounds = new Map<Element, string>();
  const backgroundOf = (element: Element | null): string => {
    if (!element) return "rgb(255, 255, 255)";
    const known = backgrounds.get(element);
    if (known !== undefined) return known;
    const color = getComputedStyle(element).backgroundColor;
    const found = channels(color)[3] === 0 ? backgroundOf(element.parentElement) : color;
    backgrounds.set(element, found);
    return found;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const tooLow: { text: string; ratio: number }[] = [];
  let measured = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement!;
    const text = walker.currentNode.textContent!.trim();
    if (text === "" || !element.checkVisibility()) continue;
    const [one, other] = [getComputedStyle(element).color, backgroundOf(element)].map(luminance);
    const [high, low] = [Math.max(one!, other!), Math.min(one!, other!)];
    const ratio = (high + 0.05) / (low + 0.05);
    measured += 1;
    if (ratio < 4.5) tooLow.push({ text, ratio });
  }
  return { measured, tooLow };
}
