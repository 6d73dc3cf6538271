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
 * One real Chromium for all tests of a run, started by the first that asks. It is the system's
 * where there is one, otherwise the one inside an npm package, so that nothing has to be installed.
 */
let started: Promise<Browser> | undefined;

/** Where the package's browser was unpacked. */
let folder: string | undefined;

export function browser(): Promise<Browser> {
  started ??= launch();
  return started;
}

/** Closes the browser; the next call of browser() starts another. */
export async function closeBrowser(): Promise<void> {
  const open = await started;
  started = undefined;
  await open?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
}

export interface WatchedContext {
  readonly context: BrowserContext;
  /** Every address asked for, and every message of the console that is a warning or an error. */
  readonly requested: readonly string[];
  readonly complaints: readonly string[];
}

/** A fresh profile whose network and console are written down. */
export async function watchedContext(options: BrowserContextOptions = {}): Promise<WatchedContext> {
  const context = await (await browser()).newContext(options);
  const requested: string[] = [];
  const complaints: string[] = [];
  context.on("request", (request) => void requested.push(request.url()));
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  context.on("weberror", (error) => void complaints.push(String(error.error())));
  return { context, requested, complaints };
}

const systemPlaces = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/**
 * The package unpacks its browser under a fixed name into the temporary folder and takes whatever
 * it finds there: another user's, or half of one. So it gets a folder of its own each time.
 */
async function unpackChromium(): Promise<string> {
  folder = mkdtempSync(join(tmpdir(), "petstore-chromium-"));
  const outside = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    return await sparticuz.executablePath();
  } finally {
    if (outside === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = outside;
  }
}

async function launch(): Promise<Browser> {
  const system = systemPlaces.find((place) => existsSync(place));
  return chromium.launch({
    executablePath: system ?? (await unpackChromium()),
    // Root may not use the sandbox; the pages are our own. The package's further switches suit
    // functions in a cloud: with its single process, closing one context ends the browser.
    args: ["--no-sandbox"],
    headless: true,
  });
}
