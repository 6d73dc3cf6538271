// Reads the Stock view of the console, and changes stock behind its back.
import type { Page } from "playwright-core";
import type { TestService } from "./service.ts";

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
