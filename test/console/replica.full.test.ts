import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  expectNoComplaints,
  fitsWidth,
  openConsole,
  phone,
} from "../support/console.ts";
import { openWorkspace } from "../support/process.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const place = openWorkspace();
const current = place.path("current");
const services: TestService[] = [];
let opened: ConsolePage;
beforeAll(async () => {
  const flags = { "replica-check": `test -e ${current}` };
  services.push(await startTestService("sqlite", flags, { replicaCheckEveryMs: 3_000 }));
  services.push(await startTestService("sqlite"));
});
afterAll(async () => {
  await closeBrowser();
  for (const service of services) await service.stop();
  await place.leave();
});

/** Waits until the last check of the copy has this error, or null. */
async function untilChecked({ page }: ConsolePage, error: string | null): Promise<void> {
  const lastError = () =>
    page.evaluate(async () => {
      const { replica } = await (await fetch("/admin/backups")).json();
      return replica.startedAt === null ? "none" : replica.error;
    });
  await until(async () => (await lastError()) === error, 10_000, `the result ${error}`);
}

/** The card on a page that is loaded now. */
async function cardShows({ page }: ConsolePage, text: string, exact = false): Promise<void> {
  await page.reload();
  await page.locator(".card", { hasText: "Continuous copy" }).getByText(text, { exact }).waitFor();
}

const failure = "the command ended with exit code 1";

test("the view of backups shows whether the continuous copy is current, also on a phone", async () => {
  opened = await openConsole(services[0]!, "/backups", phone);
  const { page } = opened;
  await untilChecked(opened, failure);
  await cardShows(opened, failure);
  await page.getByText("Unknown", { exact: true }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  expect(await fitsWidth(page)).toBe(true);
  writeFileSync(current, "");
  await untilChecked(opened, null);
  await cardShows(opened, "Current", true);
  rmSync(current);
  await untilChecked(opened, failure);
  await cardShows(opened, failure);
  await page.goto(page.url().replace("/backups", ""));
  await page.getByText("The continuous copy is not current: the command ended").waitFor();
  expectNoComplaints(opened, services[0]!);
});

test("without a check the view says so", async () => {
  await cardShows(await openConsole(services[1]!, "/backups"), "--replica-check is not set.");
});
