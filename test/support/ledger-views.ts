// Makes changes, and reads the lists of changes in the console.
import { expect } from "bun:test";
import type { Page } from "playwright-core";
import type { TestService } from "./service.ts";

export interface Change {
  readonly petId: number | string;
  readonly quantity: number;
  readonly reason?: string;
}

/** Makes changes as one batch, a minute after the last one. Returns the number of the last change. */
export async function makeChanges(
  service: TestService,
  key: string,
  ...changes: readonly Change[]
): Promise<number> {
  service.clock.advance(60_000);
  const list = changes.map(
    ({ petId, quantity, reason }) =>
      `{"petId":${petId},"quantity":${quantity},"reason":${JSON.stringify(reason ?? "")}}`,
  );
  const body = `{"changes":[${list.join()}]}`;
  const { status, json } = await service.call("POST", "/changes", { key, body });
  expect(status).toBe(200);
  return (json as { entries: { version: number }[] }).entries.at(-1)!.version;
}

/** The numbers of the changes on the page. */
export const shownSeqs = (page: Page) =>
  page
    .locator("[data-seq]")
    .evaluateAll((rows) => rows.map((row) => Number((row as HTMLElement).dataset.seq)));

/** Waits until the page shows these changes, in this order, and no others. */
export async function expectSeqs(page: Page, ...expected: readonly number[]): Promise<void> {
  const isShown = (wanted: string) => {
    const rows = [...document.querySelectorAll<HTMLElement>("[data-seq]")];
    return rows.map((row) => row.dataset.seq).join() === wanted;
  };
  await page.waitForFunction(isShown, expected.join()).catch(() => undefined);
  expect(await shownSeqs(page)).toEqual([...expected]);
}
