// Reads the Stock view of the console, and changes stock behind its back.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { type ConsolePage, consoleUrl, openConsole } from "./console.ts";
import { type Engine, startTestService, type TestService } from "./service.ts";

export const wideId = "9223372036854775807";
export const markup = `<img src=x onerror="document.title='stolen'">`;

/** The Stock view of a service with twelve pets of ten pieces, and one with a wide id and markup as its name. */
export interface StockView {
  readonly service: TestService;
  /** A key of another client. */
  readonly till: string;
  readonly opened: ConsolePage;
}

export async function openStockView(engine: Engine): Promise<StockView> {
  const service = await startTestService(engine);
  const till = (await service.issueKey({ name: "Till 2" })).text;
  const pets = Array.from({ length: 12 }, (_, index) => ({
    petId: BigInt(index + 1),
    name: `Pet ${index + 1}`,
    quantity: 10,
  }));
  await service.addPets(...pets, { petId: BigInt(wideId), name: markup, quantity: 1 });
  const opened = await openConsole(service, "/stock");
  await rowOf(opened.page, 1).waitFor();
  return { service, till, opened };
}

export const rowOf = (page: Page, petId: number | string) => page.locator(`[data-pet='${petId}']`);

export const quantityOf = (page: Page, petId: number | string) =>
  rowOf(page, petId).locator(".cell-quantity");

/** Waits until the row shows this text. */
export const shows = (page: Page, petId: number | string, text: string) =>
  rowOf(page, petId).filter({ hasText: text }).waitFor();

/** The id of the focused element. */
export const focused = (page: Page) => page.evaluate(() => document.activeElement?.id);

export interface SeenRow {
  readonly petId: number;
  readonly cause: string;
  readonly keyName: string;
  readonly reason: string | null;
  readonly requestId: string;
  readonly after: { readonly quantity: number; readonly status: string } | null;
}

/** The last rows of the ledger, oldest first. */
export async function lastLedgerRows(
  service: TestService,
  key: string,
  count: number,
): Promise<readonly SeenRow[]> {
  const head = await service.call("GET", "/changes/head", { key });
  const { seq } = head.json as { seq: number };
  const { json } = await service.call("GET", `/changes?after=${seq - count}`, { key });
  return json as SeenRow[];
}

/** Opens Stock, and waits for this pet. Returns a check that no row was added to the ledger since. */
export async function openStock(page: Page, service: TestService, till: string, petId: number) {
  await page.goto(consoleUrl(service, "/stock"));
  await rowOf(page, petId).waitFor();
  const before = await lastLedgerRows(service, till, 1);
  return async () => expect(await lastLedgerRows(service, till, 1)).toEqual([...before]);
}

/** Changes a quantity through the API, as another client does. */
export async function changeQuantity(
  service: TestService,
  key: string,
  petId: number | string,
  quantity: number,
  reason = "sold",
): Promise<void> {
  const headers = { "X-Change-Reason": reason };
  const body = JSON.stringify({ quantity });
  const { status } = await service.call("PATCH", `/inventory/${petId}`, { key, body, headers });
  if (status !== 200) throw new Error(`the update of pet ${petId} got ${status}`);
}

/** The page knows the clock of the service as soon as it has told what was counted. */
export async function toldBy(page: Page): Promise<void> {
  await (
    await page.waitForResponse((response) => response.url().endsWith("/admin/stocktakes"))
  ).finished();
}

/**
 * Counts, and waits until the page knows where the ledger ended then. What is sold without this wait may
 * be stored before the page asks, and then it was sold before the count.
 */
export async function placed(page: Page, count: () => Promise<void>): Promise<void> {
  await page.evaluate(() => {
    const { fetch } = window;
    const asked: Promise<unknown>[] = [];
    const follow = (...request: Parameters<typeof fetch>) => {
      const answered = fetch(...request);
      asked.push(answered);
      return answered;
    };
    const settled = () => {
      window.fetch = fetch;
      return Promise.allSettled(asked);
    };
    Object.assign(window, { fetch: follow, settled });
  });
  await count();
  await page.evaluate(async () => {
    await (window as unknown as { settled: () => Promise<unknown> }).settled();
  });
}
