import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { readConfig } from "../../src/config.ts";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { issueKey, rotateKey } from "../../src/domain/keys/lifecycle.ts";
import { formatInstant } from "../../src/domain/values/times.ts";
import { openOrCreateStore } from "../../src/opening/stores.ts";
import { schemaNumber } from "../../src/store/schema.ts";
import { anEntry } from "../support/audit.ts";
import { createTestClock } from "../support/clock.ts";
import {
  complaints,
  examineStore,
  findingsOf,
  makeHealthy,
  recordTasks,
} from "../support/doctor.ts";
import { petRow } from "../support/pets.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace } from "../support/process.ts";
import { type Engine, startTestService, surfaceEngine } from "../support/service.ts";
import { createKey, withStoreAt } from "../support/stocking.ts";
import { readRows, setSchemaNumber } from "../support/stored-rows.ts";
import { webhookNamed } from "../support/webhooks.ts";

const dayMs = 86_400_000;
const place = openWorkspace();
afterAll(() => place.leave());
let filesMade = 0;
const fresh: Record<Engine, () => Promise<string>> = {
  sqlite: async () => `sqlite:${place.path(`private/${++filesMade}.db`)}`,
  postgres: () => createdDatabase(),
};

for (const engine of [surfaceEngine]) {
  describe(`petstore doctor on ${engine}`, () => {
    test("names keys that expire, old secrets, bans and webhooks that do not deliver", async () => {
      const database = await fresh[engine]();
      await makeHealthy(database);
      const now = Date.now();
      const [ending, rotated] = await withStoreAt(database, async (store) => {
        const terms = { name: "till", plan: "free", expiresAt: now + 13 * dayMs };
        const made = await issueKey(store, "production", terms, byCommand(now));
        await issueKey(
          store,
          "production",
          { ...terms, expiresAt: now + 15 * dayMs },
          byCommand(now),
        );
        const other = await issueKey(
          store,
          "production",
          { name: "web", plan: "pro" },
          byCommand(now),
        );
        await rotateKey(store, "production", other.key.id, byCommand(now), dayMs);
        const ban = { keyId: other.key.id, startedAt: now, until: now + dayMs, liftedAt: null };
        await store.usage.saveBan(ban);
        const day = { dayStart: now - (now % dayMs), dayCount: 900, lastUsedAt: now };
        await store.usage.saveUsage([
          { keyId: made.key.id, minuteStart: now, minuteCount: 1, ...day },
        ]);
        return [made.key.id, other.key.id];
      });
      await withStoreAt(database, async ({ webhooks }) => {
        await webhooks.addWebhook(webhookNamed("wh_paused", { state: "paused" }), anEntry);
        const failing = { failures: 3, failingSince: now };
        await webhooks.addWebhook(webhookNamed("wh_failing", failing), anEntry);
      });
      const findings = complaints(await examineStore(database));
      expect(findings.map(({ name, result }) => [name, result])).toEqual([
        ["keys", "warning"],
        ["limits", "warning"],
        ["bans", "warning"],
        ["webhooks", "problem"],
        ["webhooks", "warning"],
      ]);
      const [keys, limits, bans, failing, paused] = findings;
      expect(keys!.found).toMatch(
        new RegExp(`^Key 'till' is about to expire, at [0-9-]{10}T.* or later. ID: ${ending}$`),
      );
      expect(keys!.advice).toContain("petstore keys create");
      expect(limits!.found).toBe(`Key 'till' is close to the daily limit. ID: ${ending}`);
      expect(limits!.advice).toContain("raise the limits");
      expect(bans!.found).toBe(`Key 'web' is banned for ignoring the rate limit. ID: ${rotated}`);
      expect(bans!.advice).toContain("petstore keys unban");
      expect(failing!.found).toEndWith("is failing. Deliveries are retried. ID: wh_failing");
      expect(paused!.found).toEndWith("is paused. ID: wh_paused");
      const [secrets] = findingsOf(await examineStore(database), "secrets");
      expect(secrets!.found).toContain(`old ones still valid: ${rotated} (web) until `);
    });

    test("warns of backups that are missing, old or failed", async () => {
      const database = await fresh[engine]();
      await createKey(database, { name: "shop", plan: "free" });
      const found = async (flags = {}) =>
        complaints(await examineStore(database, flags)).map(
          ({ name, result, found }) => `${result}: ${name}: ${found}`,
        );
      expect(await found()).toEqual(["warning: backup: There is no backup of the store yet."]);
      const [recent, early] = [Date.now() - 3 * 3_600_000, Date.now() - 40 * dayMs];
      await recordTasks(database, recent);
      expect(await found()).toEqual([]);
      expect(await found({ "backup-every": "2h" })).toEqual([]);
      expect(await found({ "backup-every": "1h" })).toEqual([
        `problem: backup: The last backup is from ${formatInstant(recent)}.`,
      ]);
      await recordTasks(database, early);
      expect(await found()).toEqual([
        `warning: backup: The last backup is from ${formatInstant(early)}.`,
        `warning: drill: The last drill is from ${formatInstant(early)}.`,
      ]);
      await withStoreAt(database, ({ maintenance }) =>
        maintenance.failTask("backup", Date.now(), "no space left"),
      );
      expect((await found())[0]).toBe("problem: backup: The last backup failed: no space left");
    });

    test("refuses another schema, an empty database and another environment", async () => {
      const database = await fresh[engine]();
      await makeHealthy(database);
      const staging = await examineStore(database, { env: "staging" });
      expect(complaints(staging)).toEqual([
        {
          name: "environment",
          result: "problem",
          found: "the store belongs to production, not to staging",
          advice: "Set --env production, or --database to the other store.",
        },
      ]);
      for (const [number, advice] of [
        [
          11,
          "Next: back it up with the version that made it, and restore that backup with this one",
        ],
        [schemaNumber + 1, "Next: use the version that made it"],
      ] as const) {
        await setSchemaNumber(database, number);
        const findings = await examineStore(database);
        expect(findingsOf(findings, "schema")).toMatchObject([
          {
            result: "problem",
            found: `schema ${number}, but this version needs ${schemaNumber}`,
            advice: expect.stringContaining(advice),
          },
        ]);
        // Another schema may lack tables.
        expect(findings.map(({ name }) => name)).not.toContain("keys");
      }
      const empty = await createEmpty[engine]();
      const [none] = complaints(await examineStore(empty)).filter(isProblem);
      expect(none!.found).toMatch(/the database is empty|the file is empty/);
      expect(none!.advice).toContain("Check --database and --env");
    });

    test("warns of a ledger row in the future", async () => {
      const database = await fresh[engine]();
      await makeHealthy(database);
      if (engine === "sqlite") {
        const clock = createTestClock(Date.now() + dayMs);
        const store = await openOrCreateStore(readConfig({ database }, {}), clock);
        await store.catalogue.importPets(rows(), commandImport("test"));
        await store.close();
      } else {
        const ahead = `UPDATE ledger_end SET at = ${Date.now() + dayMs} WHERE seq = 0`;
        await readRows(database, ahead);
      }
      const findings = complaints(await examineStore(database));
      expect(findings).toMatchObject([{ name: "clock", result: "warning" }]);
      expect(findings[0]!.found).toStartWith("the last ledger row is in the future: ");
      expect(findings[0]!.advice).toContain("Synchronise the clocks");
    });

    test("works while the service runs, and finds it on its port", async () => {
      const database = await fresh[engine]();
      await makeHealthy(database);
      const service = await startTestService(engine, { database });
      try {
        const { port } = new URL(service.baseUrl);
        const findings = await examineStore(database, { port });
        expect(complaints(findings)).toEqual([]);
        expect(findingsOf(findings, "port")[0]!.found).toBe(
          `a petstore service listens on 127.0.0.1:${port}`,
        );
        if (engine === "sqlite") {
          expect(findingsOf(findings, "serving")[0]!.found).toBe("a service uses the store now");
        }
      } finally {
        await service.stop();
      }
    });
  });
}

function isProblem({ result }: Finding): boolean {
  return result === "problem";
}

const createEmpty: Record<Engine, () => Promise<string>> = {
  async sqlite() {
    new Database(place.path("empty.db"), { create: true }).close();
    return `sqlite:${place.path("empty.db")}`;
  },
  postgres: async () => (await sharedPostgres()).freshDatabase(),
};

async function* rows() {
  yield [petRow({ petId: 1n })];
}
