import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeBrowser } from "../support/browser.ts";
import { type ConsolePage, expectNoComplaints, openConsole } from "../support/console.ts";
import { program } from "../support/program.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { type CellValue, workbook } from "../support/workbooks.ts";

const rowsCount = 100_000;

let service: TestService;
let opened: ConsolePage;
beforeAll(async () => {
  service = await startTestService("sqlite", {}, {}, { program });
  opened = await openConsole(service, "/import");
});
afterAll(async () => {
  expectNoComplaints(opened, service);
  await opened.context.close();
  await closeBrowser();
  await service.stop();
});

function* rows(): Generator<readonly CellValue[]> {
  yield ["petId", "name", "category", "quantity"];
  for (let id = 1; id <= rowsCount; id++) yield [id, `Pet ${id}`, "Fische", id % 50];
}

test("a workbook of 100,000 rows is checked and imported without a frozen page", async () => {
  const { page } = opened;
  await page.evaluate(() => {
    const seen = window as unknown as { longest: number };
    seen.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration);
    }).observe({ type: "longtask" });
  });
  const longestTask = () => page.evaluate(() => (window as unknown as { longest: number }).longest);
  const buffer = workbook({ Bestand: rows() });
  const started = performance.now();
  // From a file: the browser's driver would put bytes together in the page, in one long task.
  const path = join(tmpdir(), `petstore-${process.pid}.xlsx`);
  writeFileSync(path, buffer);
  await page.setInputFiles("#import-file", path);
  // By class: the driver looks for roles in the page, in long tasks of its own.
  const button = page.locator(".import-actions .primary");
  await button.waitFor();
  const checked = await longestTask();
  expect(await button.textContent()).toBe("Import 100,000 pets");
  await button.click();
  await page.locator(".notice.success").waitFor();
  rmSync(path);
  const seconds = (performance.now() - started) / 1_000;
  const longest = await longestTask();
  const tasks = `longest task ${checked} ms until it is checked, ${longest} ms until it is imported`;
  console.log(`${buffer.length} bytes: ${seconds.toFixed(1)} s, ${tasks}`);
  expect(longest).toBeLessThan(100);
}, 600_000);
