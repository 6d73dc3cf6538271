// Starts a real browser for the tests of the pages and of the client: Chromium or, if
// TEST_BROWSER says so, Firefox or WebKit (test/console/other-browsers.full.test.ts).
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import sparticuz from "@sparticuz/chromium";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  firefox,
  webkit,
} from "playwright-core";
import { version } from "../../node_modules/@sparticuz/chromium/package.json";

/**
 * The browser that the tests of a file share, started by the first call of browser(). It is the
 * system's Chromium if there is one, otherwise the one in an npm package.
 */
let started: Promise<Browser> | undefined;

/** Browsers that no npm package brings. */
export const otherBrowsers = [firefox, webkit];
const chosen = otherBrowsers.find((type) => type.name() === process.env.TEST_BROWSER);

/** Firefox has no sizes of phones, only small windows. */
const supported =
  chosen?.name() === "firefox"
    ? ({ isMobile: _, ...options }: BrowserContextOptions) => options
    : (options: BrowserContextOptions) => options;

/** The folder for unpacked browsers. A new installation of the dependencies empties it. */
const cacheFolder = resolve(import.meta.dir, "../../node_modules/.cache/petstore");

export function browser(): Promise<Browser> {
  started ??= launch();
  return started;
}

/**
 * Closes the browser. The next call of browser() starts another one. The last test of a file has to, because no
 * code runs when Bun ends a process of tests.
 */
export async function closeBrowser(): Promise<void> {
  const open = await started;
  started = undefined;
  await open?.close();
}

export interface WatchedContext {
  readonly context: BrowserContext;
  /** The URL of every request. */
  readonly requested: readonly string[];
  /** Every warning and error on the console, and every uncaught error of a page. */
  readonly complaints: readonly string[];
}

/**
 * Opens an empty profile and records its requests and its console. Pages scroll at once: a click would
 * wait for a smooth scroll to end.
 */
export async function watchedContext(options: BrowserContextOptions = {}): Promise<WatchedContext> {
  const context = await (await browser()).newContext({
    reducedMotion: "reduce",
    ...supported(options),
  });
  const requested: string[] = [];
  const complaints: string[] = [];
  context.on("request", (request) => void requested.push(request.url()));
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  context.on("weberror", (error) => void complaints.push(String(error.error())));
  return { context, requested, complaints };
}

const systemBrowsers = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/**
 * Unpacks the package's browser, unless an earlier run did, because that takes seconds. It is unpacked
 * into a new folder, which is renamed when it is complete: the package uses a fixed name in TMPDIR and
 * accepts an existing file there, even an incomplete one or one of another user.
 */
async function unpackChromium(): Promise<string> {
  const folder = join(cacheFolder, `chromium-${version}`);
  const path = join(folder, "chromium");
  if (existsSync(path)) return path;
  mkdirSync(cacheFolder, { recursive: true });
  const newFolder = mkdtempSync(join(cacheFolder, "new-"));
  const previous = process.env.TMPDIR;
  process.env.TMPDIR = newFolder;
  try {
    await sparticuz.executablePath();
  } finally {
    if (previous === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = previous;
  }
  try {
    renameSync(newFolder, folder);
  } catch (error) {
    // Another test process was faster.
    rmSync(newFolder, { recursive: true, force: true });
    if (!existsSync(path)) throw error;
  }
  return path;
}

async function launch(): Promise<Browser> {
  if (chosen) return chosen.launch({ timeout: 120_000 });
  const system = systemBrowsers.find((path) => existsSync(path));
  return chromium.launch({
    executablePath: system ?? (await unpackChromium()),
    // Chromium does not start as root with its sandbox. The tests load only pages of this project.
    // The package's other flags are for cloud functions: with --single-process, closing one context
    // ends the browser.
    args: ["--no-sandbox"],
    headless: true,
    timeout: 120_000,
  });
}
