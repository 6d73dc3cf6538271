import { afterAll, expect, setSystemTime, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { backupAgeMsMax, drillAgeMsMax, endingMs } from "../../src/domain/operations/attention.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { anEntry } from "../support/audit.ts";
import { closeBrowser } from "../support/browser.ts";
import { createTestClock, testStart } from "../support/clock.ts";
import { consoleUrl, openConsole } from "../support/console.ts";
import { complaints, examineStore } from "../support/doctor.ts";
import { sampleOf, scrape } from "../support/metrics.ts";
import { openWorkspace } from "../support/process.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { importPets } from "../support/stocking.ts";
import { until } from "../support/until.ts";
import { webhookNamed } from "../support/webhooks.ts";

const place = openWorkspace();
afterAll(() => place.leave());
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
    // The clock of a database server is another one.
    const known = complaints(findings).filter(({ name }) => name in viewOf);
    return known.map(({ name, result }) => `${result}: ${name}`);
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
  expect(await byOverview()).toEqual(["warning: backups", "warning: backups", "warning: keys"]);
  expect(await byConsole()).toEqual({ backup: 1, drill: 1, key: 1 });
  await service.stop();
});

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

interface StoreState {
  readonly flags?: Record<string, string>;
  /** Restores the store from a backup of this age before the service starts. */
  readonly restoredMs?: number;
  /** The age of a later backup, with changes that the restored one does not have. */
  readonly laterMs?: number;
  prepare?(service: TestService, now: number, folder: string): Promise<unknown>;
  readonly expected: readonly string[];
}

const made = async ({ store }: TestService, backupAt: number, drillAt: number) => {
  await store.maintenance.endTask("backup", backupAt, "{}");
  await store.maintenance.endTask("drill", drillAt, "{}");
};
const banOf = (keyId: string, now: number) => ({
  ...{ keyId, startedAt: now, until: now + dayMs, liftedAt: null },
});

const storeStates: Readonly<Record<string, StoreState>> = {
  "a new store": { expected: ["warning: backups"] },
  "a backup and no drill": {
    prepare: ({ store }, now) => store.maintenance.endTask("backup", now, "{}"),
    expected: ["warning: backups"],
  },
  "a backup and a drill": {
    prepare: (service, now) => made(service, now, now),
    expected: [],
  },
  "an old backup without a schedule": {
    prepare: (service, now) => made(service, now - 3 * dayMs, now),
    expected: ["warning: backups"],
  },
  "an old backup with a schedule, and an old drill": {
    flags: { "backup-every": "1h" },
    prepare: (service, now) => made(service, now - 3 * hourMs, now - 40 * dayMs),
    expected: ["problem: backups", "warning: backups"],
  },
  "a failed backup and a failed drill": {
    async prepare(service, now) {
      await made(service, now - 9, now - 9);
      await service.store.maintenance.failTask("backup", now, "no space left");
      await service.store.maintenance.failTask("drill", now, "no space left");
    },
    expected: ["problem: backups", "problem: backups"],
  },
  "a folder of backups that cannot be read": {
    async prepare(service, now, folder) {
      await made(service, now - 3 * dayMs, now);
      writeFileSync(folder, "");
    },
    expected: ["problem: backups"],
  },
  "restored from the newest backup": { restoredMs: hourMs, expected: ["warning: backups"] },
  "restored from an old backup": {
    restoredMs: 3 * dayMs,
    expected: ["warning: backups", "warning: backups"],
  },
  "restored from an earlier backup than the newest": {
    ...{ restoredMs: 2 * hourMs, laterMs: hourMs },
    expected: ["problem: backups", "warning: backups"],
  },
  "restored, and then a backup failed": {
    restoredMs: hourMs,
    prepare: ({ store }, now) => store.maintenance.failTask("backup", now, "no space left"),
    expected: ["problem: backups", "warning: backups"],
  },
  "webhooks in every state": {
    async prepare(service, now) {
      await made(service, now, now);
      for (const state of ["active", "paused", "disabled"] as const) {
        await service.store.webhooks.addWebhook(webhookNamed(`wh_${state}`, { state }), anEntry);
      }
      const failing = { failures: 1, failingSince: now, nextAttemptAt: now + dayMs };
      await service.store.webhooks.addWebhook(webhookNamed("wh_failing", failing), anEntry);
    },
    expected: ["problem: webhooks", "problem: webhooks", "warning: webhooks"],
  },
  "keys that are banned, about to expire and close to their limit": {
    async prepare(service, now) {
      await made(service, now, now);
      const keys = [
        await service.issueKey({ name: "banned" }),
        await service.issueKey({ name: "revoked", revokedAt: now, expiresAt: now + dayMs }),
        await service.issueKey({ name: "ended", expiresAt: now - dayMs }),
      ];
      for (const { id } of keys) await service.store.usage.saveBan(banOf(id, now));
      await service.issueKey({ name: "ending", expiresAt: now + dayMs });
      const { id } = await service.issueKey({ limits: { perMinute: 9, perDay: 10 } });
      const used = { dayStart: now - (now % dayMs), dayCount: 9, lastUsedAt: now };
      await service.store.usage.saveUsage([
        { keyId: id, minuteStart: now, minuteCount: 1, ...used },
      ]);
    },
    expected: ["warning: keys", "warning: keys", "warning: keys"],
  },
};

const viewOf: Readonly<Record<string, string>> = {
  ...{ backup: "backups", "backups ahead": "backups", drill: "backups", replica: "backups" },
  ...{ keys: "keys", bans: "keys", limits: "keys", webhooks: "webhooks" },
};

/** The name of a backup that was made at a time. */
function fileOf(folder: string, at: number): string {
  const time = new Date(at).toISOString().replace(/[-:]|\.\d+/g, "");
  return `${folder}/production-${time}.petstore`;
}

/** A store that was restored from one of two backups in a folder. */
async function restore(folder: string, now: number, { restoredMs, laterMs }: StoreState) {
  const [source, database] = [`sqlite:${folder}-source.db`, `sqlite:${folder}-restored.db`];
  mkdirSync(folder, { mode: 0o700 });
  const file = fileOf(folder, now - restoredMs!);
  await importPets(source, '{"petId":1,"name":"Rex","quantity":3}');
  await place.json("backup", file, "--database", source);
  await importPets(source, '{"petId":2,"name":"Ada","quantity":3}');
  if (laterMs) {
    await place.json("backup", fileOf(folder, now - laterMs), "--database", source);
  }
  expect(await place.runHere(["restore", file, "--database", database])).toMatchObject({ code: 0 });
  return database;
}

test.each(Object.entries(storeStates))(
  "the doctor and the overview agree on %s",
  async (name, state) => {
    const now = Date.now();
    const folder = place.path(name.replaceAll(" ", "-"));
    const flags = { "backup-folder": folder, ...state.flags };
    const database = state.restoredMs ? await restore(folder, now, state) : undefined;
    const service = await startTestService(
      database ? "sqlite" : surfaceEngine,
      { ...flags, "metrics-port": "0", ...(database && { database }) },
      { metricsReadEveryMs: 50 },
      { clock: createTestClock(now) },
    );
    await state.prepare?.(service, now, folder);
    // The service lists the backups when it starts, and every ten minutes.
    await service.restart();
    const findings = complaints(await examineStore(service.databaseUrl, flags));
    const judged = findings.filter(({ name }) => name in viewOf);
    const byDoctor = judged.map(({ name, result }) => `${result}: ${viewOf[name]}`);
    expect(byDoctor.sort()).toEqual([...state.expected]);

    const operator = (await issueOperator(service)).text;
    const get = async (path: string) =>
      (await service.call("GET", `~/admin/${path}`, { key: operator })).json as {
        readonly attention: { severity: string; view: string }[];
        readonly lastAt?: string;
        readonly backup: { lastAt: string } | null;
      };
    const byOverview = async () =>
      (await get("service")).attention.map(({ severity, view }) => `${severity}: ${view}`);
    const isExpected = async () => String(await byOverview()) === String(state.expected);
    await until(isExpected, 1_000, `the overview on ${name}: ${state.expected}`);
    if (state.restoredMs) {
      // The name has no milliseconds.
      const at = Math.floor((now - (state.laterMs ?? state.restoredMs)) / 1_000);
      const lastAt = new Date(at * 1_000).toISOString();
      expect([(await get("service")).backup?.lastAt, (await get("backups")).lastAt]).toEqual([
        lastAt,
        lastAt,
      ]);
      const metric = "petstore_backup_last_success_timestamp_seconds";
      const read = async () => sampleOf(await scrape(service.metricsUrl), metric);
      await until(async () => (await read()) === at, 1_000, metric);
    }
    rmSync(folder, { recursive: true, force: true });
    await service.stop();
  },
);
