import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readConfig } from "../../src/config.ts";
import type { Limiter } from "../../src/domain/limits/limits.ts";
import type { UsageStore } from "../../src/domain/usage/usage.ts";
import { createLocalLimiter } from "../../src/limits/local.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { pass, until } from "../support/until.ts";

const rules = readConfig({}, {}).ban;
const limits = { perMinute: 60, perDay: 1_000 };

let service: TestService;
beforeAll(async () => {
  service = await startTestService("sqlite");
});
afterAll(() => service.stop());

/** A limiter on the service's store, and how often it has tried to save counts. */
async function openLimiter() {
  const { store, clock } = service;
  const logged: string[] = [];
  let saves = 0;
  const usage: UsageStore = {
    ...store.usage,
    async saveUsage(rows) {
      saves += 1;
      return store.usage.saveUsage(rows);
    },
  };
  const log = (event: string) => void logged.push(event);
  const limiter: Limiter = await createLocalLimiter({ usage, clock, rules, log });
  return { limiter, logged, saves: () => saves };
}

test("counts that are saved while another process writes are saved later, and nothing is logged", async () => {
  const { id } = await service.issueKey();
  const { limiter, logged, saves } = await openLimiter();
  using holder = new Database(service.databaseUrl.slice("sqlite:".length));
  holder.run("BEGIN IMMEDIATE");
  limiter.take(id, limits);
  await until(() => saves() >= 2, 20_000, "two attempts to save");
  const stored = async () =>
    (await service.store.usage.loadUsage()).find(({ keyId }) => keyId === id)?.dayCount;
  expect(await stored()).toBeUndefined();
  holder.run("ROLLBACK");
  await until(async () => (await stored()) === 1, 20_000, "the counts are not saved");
  expect(logged).toEqual([]);
  await limiter.close();
});

test("a ban that begins while another process writes is stored before the next write", async () => {
  const { id } = await service.issueKey();
  const { limiter } = await openLimiter();
  using holder = new Database(service.databaseUrl.slice("sqlite:".length));
  holder.run("BEGIN IMMEDIATE");
  let isBanned = false;
  while (!isBanned) {
    service.clock.advance(100);
    isBanned = (await limiter.take(id, { perMinute: 1, perDay: 1_000 })).outcome === "banned";
  }
  // The thread of the writer tries to save the ban meanwhile, which this thread cannot see.
  await pass(100);
  holder.run("ROLLBACK");
  await service.issueKey();
  expect((await service.store.usage.loadBans()).map(({ keyId }) => keyId)).toContain(id);
  await limiter.close();
});
