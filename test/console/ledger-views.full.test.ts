import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  consoleUrl,
  expectNoComplaints,
  openConsole,
  showView,
} from "../support/console.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

const wideId = "9223372036854775807";
const markup = `<img src=x onerror="document.title='stolen'">`;
const startedAt = Date.UTC(2026, 10, 16, 8, 0);

let service: TestService;
let opened: ConsolePage;
let page: Page;
let till: { id: string; text: string };
let shop: { id: string; text: string };

beforeAll(async () => {
  service = await startTestService(surfaceEngine);
  service.clock.set(startedAt);
  till = await service.issueKey({ name: `Till ${markup}` });
  shop = await service.issueKey({ name: "Web shop" });
  await service.addPets(
    { petId: 1n, name: "Rex", quantity: 10 },
    { petId: 2n, name: "Luna", quantity: 5, status: "pending" },
    { petId: BigInt(wideId), name: markup, quantity: 3 },
  );
  opened = await openConsole(service, "/overview");
  page = opened.page;
});
afterAll(async () => {
  expectNoComplaints(opened, service, [/status of 409/, /status of 404/]);
  await opened.context.close();
  await closeBrowser();
  await service.stop();
});

interface Change {
  readonly petId: number | string;
  readonly quantity: number;
  readonly reason?: string;
}

/** Makes changes as one batch, a minute after the last one. Returns the number of the last change. */
async function change(key: string, ...changes: readonly Change[]): Promise<number> {
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

const open = (path: string) => showView(page, path);
const rowOf = (seq: number) => page.locator(`[data-row='${seq}']`);
/** The numbers of the changes on the page. */
const shownSeqs = () =>
  page
    .locator("[data-row]")
    .evaluateAll((rows) => rows.map((row) => Number((row as HTMLElement).dataset.row)));
/** Waits until the page shows these changes, in this order, and no others. */
async function expectSeqs(...expected: readonly number[]): Promise<void> {
  const isShown = (wanted: string) => {
    const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
    return rows.map((row) => row.dataset.row).join() === wanted;
  };
  await page.waitForFunction(isShown, expected.join()).catch(() => undefined);
  expect(await shownSeqs()).toEqual([...expected]);
}
const lastRow = async () => {
  const { seq } = (await service.call("GET", "/changes/head", { key: shop.text })).json as {
    seq: number;
  };
  const { json } = await service.call("GET", `/changes?after=${seq - 1}`, { key: shop.text });
  return (json as unknown[])[0];
};

describe("the Overview", () => {
  test("shows the stock by status, what needs attention and the last changes", async () => {
    const stock = page.getByRole("region", { name: "Stock" });
    await stock.waitFor();
    const text = (await stock.textContent())!;
    for (const part of ["Available13in 2 entries", "Pending5in 1 entry", "Sold0in 0 entries"]) {
      expect(text).toContain(part);
    }
    const warning = page.getByRole("region", { name: "Needs attention" });
    await warning.getByText("There is no backup of the store yet.").waitFor();
    expect(await warning.getByText("Open Backups").getAttribute("href")).toBe("/console/backups");
    await page.locator("[data-row]", { hasText: "Luna" }).waitFor();
    await page.locator(".chart svg").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  test("follows the changes of others", async () => {
    const seq = await change(till.text, { petId: 1, quantity: 7, reason: markup });
    await rowOf(seq).filter({ hasText: markup }).waitFor();
    await page.getByRole("region", { name: "Stock" }).getByText("10", { exact: true }).waitFor();
  });
});

describe("Activity", () => {
  let rare: number;
  let last: number;
  beforeAll(async () => {
    rare = await change(shop.text, { petId: 2, quantity: 4, reason: "rare" });
    const many = Array.from({ length: 60 }, (_, index) => ({ petId: 1, quantity: index }));
    last = await change(till.text, ...many);
  });

  test("lists all changes newest first, page by page, with who made them and why", async () => {
    await open("/activity");
    await rowOf(last).waitFor();
    expect(await shownSeqs()).toEqual(Array.from({ length: 50 }, (_, index) => last - index));
    for (let end = last - 50; end > 0; end = (await shownSeqs()).at(-1)! - 1) {
      await page.getByText("Show older changes").click();
      await rowOf(end).waitFor();
    }
    expect(await shownSeqs()).toEqual(Array.from({ length: last }, (_, index) => last - index));
    const words = await rowOf(rare).textContent();
    for (const part of ["Luna", "5 → 4", "−1", "Web shop", "API", "rare"]) {
      expect(words).toContain(part);
    }
    expect(await rowOf(1).textContent()).toContain("Command line");
    expect(await rowOf(1).getByText("Undo").count()).toBe(0);
  });

  test("shows only changes that match the pet, the key, the cause and the time", async () => {
    await open("/activity");
    await rowOf(last).waitFor();
    await page.focus("#filter-key");
    await page.selectOption("#filter-key", { label: "Web shop" });
    await expectSeqs(rare);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("filter-key");
    await page.fill("#filter-pet", "1");
    await page.keyboard.press("Enter");
    await page.getByText("No change matches").waitFor();
    expect(new URL(page.url()).search).toBe(`?pet=1&key=${shop.id}`);
    await page.getByText("Show all changes").click();
    await page.selectOption("#filter-cause", "import");
    await expectSeqs(3, 2, 1);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByText("Clear").click();
    const minute = (offset: number) => new Date(startedAt + offset * 60_000).toISOString();
    await open(`/activity?since=${minute(1)}&until=${minute(3)}`);
    await expectSeqs(rare, rare - 1);
    await open(`/activity?pet=2&until=${minute(1)}`);
    await expectSeqs(2);
  });

  test("adds changes that match as they happen, and holds them back while it is paused", async () => {
    await open("/activity?pet=2");
    await rowOf(rare).waitFor();
    await change(till.text, { petId: 1, quantity: 50 });
    const fresh = await change(till.text, { petId: 2, quantity: 3, reason: "live" });
    await expectSeqs(fresh, rare, 2);
    expect(await rowOf(fresh).textContent()).toContain("live");
    await page.getByText("Pause").click();
    const held = await change(till.text, { petId: 2, quantity: 2 });
    await page.getByText("Show 1 new").click();
    await expectSeqs(held, fresh, rare, 2);
  });

  test("an undo gives the entry its earlier stock, with the operator's name and reason", async () => {
    const seq = await change(till.text, { petId: 2, quantity: 99, reason: "typing error" });
    await rowOf(seq).getByText("Undo").click();
    await page.fill("dialog [name=reason]", "was 2");
    await page.locator("dialog").getByRole("button", { name: "Undo", exact: true }).click();
    await rowOf(seq + 1)
      .filter({ hasText: "was 2" })
      .waitFor();
    await page.locator("dialog").waitFor({ state: "detached" });
    expect(await lastRow()).toMatchObject({
      seq: seq + 1,
      after: { quantity: 2, status: "pending" },
      cause: "undo",
      keyName: "Ada",
      reason: "was 2",
    });
  });

  test("an undo of a change that was changed again shows by whom, and waits for the decision", async () => {
    const seq = await change(till.text, { petId: 2, quantity: 20, reason: "first" });
    const later = await change(shop.text, { petId: 2, quantity: 15, reason: "five sold" });
    await rowOf(seq).getByText("Undo").click();
    await page.locator("dialog button[type=submit]").click();
    const conflict = page.locator("dialog", { hasText: "has changed since then" });
    await conflict.waitFor();
    const text = (await conflict.textContent())!;
    for (const part of ["20 → 15", "Web shop", "five sold", "15 → 2"]) {
      expect(text).toContain(part);
    }
    expect(await lastRow()).toMatchObject({ seq: later });
    expect(await seriousFindings(page)).toEqual([]);
    await conflict.getByText("Set it to 2, pending").click();
    await rowOf(later + 1).waitFor();
    expect(await lastRow()).toMatchObject({ seq: later + 1, after: { quantity: 2 } });
  });
});

describe("History", () => {
  const slider = () => page.getByRole("slider");
  const readout = () => slider().getAttribute("aria-valuetext");

  test("finds a pet by its name and shows its changes as a chart and as a list", async () => {
    await change(shop.text, { petId: wideId, quantity: 8, reason: markup });
    await open("/history");
    await page.locator(".pet-choices", { hasText: wideId }).waitFor();
    await page.fill("input[type=search]", "onerror");
    await page.keyboard.press("Enter");
    await page.locator("h2", { hasText: markup }).waitFor();
    expect(page.url()).toBe(consoleUrl(service, `/history/${wideId}`));
    await page.locator(".step-line").waitFor();
    await slider().focus();
    await page.keyboard.press("End");
    expect(await readout()).toContain(`8, Web shop: ${markup}`);
    await page.keyboard.press("ArrowLeft");
    expect(await readout()).toContain("3, Command line: ");
    expect((await shownSeqs()).at(-1)).toBe(3);
    expect(await seriousFindings(page)).toEqual([]);
  });

  test("adds a new change to the chart and to the list", async () => {
    const seq = await change(till.text, { petId: wideId, quantity: 12 });
    await rowOf(seq).waitFor();
    await slider().focus();
    await page.keyboard.press("End");
    expect(await readout()).toContain("12, Till");
  });

  test("shows the whole inventory after a change and at a time, with the differences to now", async () => {
    const table = page.getByRole("table", { name: "Pets then and now" });
    await open("/history/moment?at=3");
    await table.getByText(wideId).waitFor();
    const words = (await table.textContent())!;
    for (const part of ["Rex", "Luna", markup, "+9"]) expect(words).toContain(part);
    await page.getByText("All pets then (3)").click();
    await page.getByLabel("Search these pets by id or name").fill("lun");
    await table.getByText("Rex").waitFor({ state: "detached" });
    expect(await table.getByRole("row").count()).toBe(2);
    expect(await seriousFindings(page)).toEqual([]);
    const now = new Date(service.clock.now()).toISOString();
    await open(`/history/moment?at=${now}`);
    await page.getByText("Nothing is different now").waitFor();
    await change(till.text, { petId: 1, quantity: 1 });
    await table.getByText("Rex").waitFor();
    expect(await table.getByRole("row").count()).toBe(2);
  });

  test("explains a moment that does not exist", async () => {
    await open("/history/moment?at=999999999");
    await page.getByRole("alert").getByText("no row 999999999").waitFor();
    await open("/history/77");
    await page.getByText("This pet has no changes").waitFor();
  });
});

test("markup in names and reasons is shown as text in all these views", async () => {
  for (const [path, words] of [
    ["/overview", "Latest changes"],
    ["/activity", "Show older changes"],
    [`/history/${wideId}`, "Changes of this pet"],
    ["/history/moment?at=3", "Pets then"],
  ] as const) {
    await open(path);
    const content = page.locator("#content", { hasText: words });
    await content.locator("bdi", { hasText: markup }).first().waitFor();
    expect(await content.locator("img").count()).toBe(0);
    expect(await page.title()).not.toContain("stolen");
  }
});
