// Opens the console in a real browser, as an operator does.
import { expect } from "bun:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import type { Role } from "../../src/domain/keys/keys.ts";
import { issueOperator, signIn } from "./admin/operators.ts";
import { type WatchedContext, watchedContext } from "./browser.ts";
import type { TestService } from "./service.ts";

export interface ConsolePage extends WatchedContext {
  readonly page: Page;
}

/** The size of a phone, for `openConsole`. */
export const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
};

export function consoleUrl(service: Pick<TestService, "baseUrl">, path = ""): string {
  return new URL(`/console${path}`, service.baseUrl).href;
}

/** Opens the console in an empty profile, without signing in. */
export async function visitConsole(
  service: Pick<TestService, "baseUrl">,
  path = "",
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const watched = await watchedContext({ viewport: { width: 1280, height: 800 }, ...options });
  watched.context.setDefaultTimeout(120_000);
  const page = await watched.context.newPage();
  await page.goto(consoleUrl(service, path));
  return { ...watched, page };
}

/** Enters an operator key into the form, as a person does. */
export async function enterOperatorKey(page: Page, key: string): Promise<void> {
  await page.fill("#operator-key", key);
  await page.keyboard.press("Enter");
}

/**
 * Opens a view in an empty profile, signed in with a new operator key of this name. Waits until the feed
 * is open. The session comes from the API: `enterOperatorKey` is for the tests of the form.
 */
export async function openConsole(
  service: Pick<TestService, "baseUrl" | "store" | "clock" | "call">,
  path = "",
  options: BrowserContextOptions & { readonly operator?: string; readonly role?: Role } = {},
): Promise<ConsolePage> {
  const { operator, role, ...context } = options;
  const { text } = await issueOperator(service, operator, "production", role);
  const [name, value] = (await signIn(service, text)).split("=") as [string, string];
  const { hostname } = new URL(service.baseUrl);
  const cookie = { name, value, domain: hostname, path: "/", expires: -1, httpOnly: true };
  const storageState = {
    cookies: [{ ...cookie, secure: false, sameSite: "Strict" as const }],
    origins: [],
  };
  const opened = await visitConsole(service, path, { ...context, storageState });
  await opened.page.locator("[data-connection=live]").waitFor();
  return opened;
}

/** Opens another view as the browser's Back button does: without another load of the page. */
export async function showView(page: Page, path: string): Promise<void> {
  await page.evaluate((address) => {
    window.history.pushState(null, "", address);
    window.dispatchEvent(new PopStateEvent("popstate"));
  }, `/console${path}`);
}

/** Closes the dialog with a new key. Nothing of the page knows the key afterwards. */
export async function closeSecret({ page, requested }: ConsolePage): Promise<void> {
  const text = (await page.locator("[data-secret]").textContent())!;
  await page.getByRole("button", { name: "I have stored the key" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const stored = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));
  const everything = stored + (await page.content()) + requested.join();
  expect(everything.includes(text)).toBe(false);
}

/**
 * The page sent requests to its own service only, and nothing was reported on its console: no violation
 * of its Content-Security-Policy, no uncaught error, and no failed request except those that `allowed`
 * names. Without a session, the first request of a visit is refused.
 */
export function expectNoComplaints(
  { requested, complaints }: WatchedContext,
  service: Pick<TestService, "baseUrl">,
  allowed: readonly RegExp[] = [],
): void {
  const hosts = new Set(requested.map((one) => new URL(one).host));
  expect([...hosts]).toEqual([new URL(service.baseUrl).host]);
  const expected = [/status of 401/, ...allowed];
  expect(complaints.filter((text) => !expected.some((one) => one.test(text)))).toEqual([]);
}

/** True if nothing is wider than its place, so that a phone does not scroll sideways. */
export async function fitsWidth(page: Page): Promise<boolean> {
  return (await tooWide(page)).length === 0;
}

/** What is wider than its place: the page, or a box on it. A chart needs a moment to be drawn again. */
export function tooWide(page: Page): Promise<readonly string[]> {
  return page.evaluate(async () => {
    const boxes = [
      document.documentElement,
      ...document.querySelectorAll(".card, .notice, .dialog"),
    ];
    const find = () =>
      boxes
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map((one) => `${one.tagName} ${one.className}: ${one.scrollWidth} > ${one.clientWidth}`);
    const deadline = performance.now() + 2_000;
    while (find().length > 0 && performance.now() < deadline) {
      await new Promise(requestAnimationFrame);
    }
    return find();
  });
}
