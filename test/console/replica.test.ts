import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { seriousFindings } from "../support/axe.ts";
import { closeBrowser } from "../support/browser.ts";
import {
  type ConsolePage,
  expectNoComplaints,
  fitsWidth,
  openConsole,
  phone,
} from "../support/console.ts";
import { until } from "../support/instances/fleet.ts";
import { openWorkspace } from "../support/process.ts";
import { startTestService, type TestService } from "../support/service.ts";

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

/** The card on a page that was loaded after everything that has happened. */
async function cardShows(page: Page, text: string): Promise<void> {
  await until(
    async () => {
      await page.reload();
      const card = page.locator(".card", { hasText: "Continuous copy" });
      await card.waitFor();
      return (await card.innerText()).includes(text);
    },
    10_000,
    `the text ${text}`,
  );
}

test("the view of backups shows whether the continuous copy is current, also on a phone", async () => {
  opened = await openConsole(services[0]!, "/backups", phone);
  const { page } = opened;
  await cardShows(page, "the command ended with exit code 1");
  await page.getByText("Unknown", { exact: true }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  expect(await fitsWidth(page)).toBe(true);
  writeFileSync(current, "");
  await cardShows(page, "Current");
  rmSync(current);
  await cardShows(page, "the command ended with exit code 1");
  await page.goto(page.url().replace("/backups", ""));
  await page.getByText("The continuous copy is not current: the command ended").waitFor();
  expectNoComplaints(opened, services[0]!);
});

test("without a check the view says so", async () => {
  const { page } = await openConsole(services[1]!, "/backups");
  await cardShows(page, "--replica-check is not set.");
});
