import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  expectNoComplaints,
  fitsWidth,
  openConsole,
  phone,
  showView,
  tooWide,
} from "../support/console.ts";
import { type FullStore, shown, startFullStore } from "../support/full-store.ts";
import { surfaceEngine } from "../support/service.ts";

/** Every view in every width. */

let store: FullStore;
/** A narrow window on a desktop, which does not scale its content as a phone does. */
let opened: ConsolePage;
let narrow: Page;

beforeAll(async () => {
  store = await startFullStore(surfaceEngine);
  opened = await openConsole(store.service, "", { viewport: { width: 320, height: 844 } });
  narrow = opened.page;
});
afterAll(async () => {
  expectNoComplaints(opened, store.service);
  await closeBrowser();
  await store.service.stop();
});

test.each(Object.keys(shown))(
  "%s has a place for everything on screens from 320 px, on phones also in larger letters",
  async (path) => {
    await showView(narrow, store.addressOf(path));
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

test("the form of a new key fits on a phone", async () => {
  const small = await openConsole(store.service, "/keys", { ...phone, colorScheme: "dark" });
  const { page } = small;
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("radio", { name: "Enterprise" }).check();
  expect(await fitsWidth(page)).toBe(true);
  expect(await seriousFindings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expectNoComplaints(small, store.service);
});
