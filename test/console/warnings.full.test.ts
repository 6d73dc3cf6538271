import { afterAll, expect, setSystemTime, test } from "bun:test";
import { backupAgeMsMax, drillAgeMsMax, endingMs } from "../../src/domain/operations/attention.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { closeBrowser } from "../support/browser.ts";
import { testStart } from "../support/clock.ts";
import { consoleUrl, openConsole } from "../support/console.ts";
import { complaints, examineStore } from "../support/doctor.ts";
import { startTestService, surfaceEngine } from "../support/service.ts";

afterAll(closeBrowser);

test("the doctor, the overview and the console warn of keys, backups and drills at the same millisecond", async () => {
  const service = await startTestService(surfaceEngine);
  const { clock, store } = service;
  const operator = (await issueOperator(service)).text;
  await service.issueKey({ name: "till", expiresAt: testStart + endingMs + 1 });
  await store.maintenance.endTask("backup", testStart - backupAgeMsMax(undefined), "{}");
  await store.maintenance.endTask("drill", testStart - drillAgeMsMax, "{}");
  const { page } = await openConsole(service, "/backups");

  const byDoctor = async () => {
    setSystemTime(clock.now());
    const findings = await examineStore(service.databaseUrl);
    setSystemTime();
    return complaints(findings).map(({ name, result }) => `${result}: ${name}`);
  };
  const byOverview = async () => {
    const { json } = await service.call("GET", "~/admin/service", { key: operator });
    const { attention } = json as { attention: { severity: string; view: string }[] };
    return attention.map(({ severity, view }) => `${severity}: ${view}`);
  };
  const byConsole = async () => {
    await page.clock.setFixedTime(clock.now());
    await page.goto(consoleUrl(service, "/backups"));
    await page.locator(".backup-states").waitFor();
    const backup = await page.getByText("It is older than 1 day 2 hours.").count();
    const drill = await page.getByText("Prove that a backup can be restored.").count();
    await page.goto(consoleUrl(service, "/keys"));
    const row = page.locator("tr", { hasText: "till" });
    await row.waitFor();
    return { backup, drill, key: await row.getByText(/^ends /).count() };
  };

  expect(await byDoctor()).toEqual([]);
  expect(await byOverview()).toEqual([]);
  expect(await byConsole()).toEqual({ backup: 0, drill: 0, key: 0 });
  clock.advance(1);
  expect(await byDoctor()).toEqual(["warning: backup", "warning: drill", "warning: keys"]);
  expect(await byOverview()).toEqual(["warning: backups", "warning: keys"]);
  expect(await byConsole()).toEqual({ backup: 1, drill: 1, key: 1 });
  await service.stop();
});
