import { afterEach, describe, expect, test } from "bun:test";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { commit } from "../../src/store/postgres/commit.ts";
import { createServerClock, serverTimeMs } from "../../src/store/postgres/engine/clock.ts";
import { createDatabase } from "../../src/store/postgres/engine/database.ts";
import { createEpochs } from "../../src/store/postgres/epochs.ts";
import { createIdempotencyMemory } from "../../src/store/postgres/idempotency.ts";
import { commitPlainUpdates } from "../../src/store/postgres/plain-updates.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { petRow } from "../support/pets.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { setUnit, termsNow } from "../support/units.ts";
import { until } from "../support/until.ts";

/** When the database stores a group of plain updates that it was sent, by its clock. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe("the clock of the server", () => {
  test("is known to show at least the time of the last response, and what has passed since", async () => {
    const clock = createServerClock();
    expect(clock.least(1)).toBeUndefined();
    const before = performance.now();
    clock.saw(5_000, 1);
    expect(clock.least(1)).toBeGreaterThanOrEqual(5_000);
    expect(clock.least(1)).toBeLessThanOrEqual(5_000 + performance.now() - before);
    // A clock that was set back is followed at once.
    clock.saw(3_000, 1);
    expect(clock.least(1)).toBeLessThan(5_000);
  });

  test("is unknown on another timeline, and when no response came for a while", async () => {
    const clock = createServerClock();
    clock.saw(5_000, 1);
    expect(clock.least(2)).toBeUndefined();
    await until(() => clock.least(1) === undefined, 10_000, "an unknown clock");
    clock.saw(6_000, 2);
    expect(clock.least(2)).toBeGreaterThanOrEqual(6_000);
  });
});

/** Commits an update with another idea of the server's clock, by so many milliseconds. */
async function openStore() {
  const database = createDatabase(await createdDatabase());
  const store = await openPostgres({ database, environment: "production", patienceMs: 0 });
  closing.push(() => store.close());
  const pets = async function* () {
    yield [petRow({ petId: 1n })];
  };
  await store.catalogue.importPets(pets(), commandImport("test"));
  const session = await database.connect();
  closing.push(() => session.close());
  const parts = { epochs: createEpochs(session.server), idempotency: createIdempotencyMemory() };
  // Two round trips. They record the epoch.
  await commit(session, parts, [setUnit(1n, 1)], termsNow());
  const commitBy = async (offMs: number) => {
    const [[time] = []] = await session.query(`SELECT ${serverTimeMs}`);
    const clock = { ...session.clock, least: () => Number(time) + offMs };
    return commitPlainUpdates({ ...session, clock }, parts, [setUnit(1n, 7)], termsNow());
  };
  return { store, commitBy };
}

test.each([
  ["too late", -60_000],
  ["too early, because the clock was set back", 60_000],
])("nothing is stored if it is %s", async (_, offMs) => {
  const { store, commitBy } = await openStore();
  const before = (await store.inventory.readHead()).seq;
  expect(await commitBy(offMs)).toBeUndefined();
  expect((await store.inventory.readHead()).seq).toBe(before);
  // A busy server may be late by itself.
  const isStored = async () => (await commitBy(0)) !== undefined;
  await until(isStored, 10_000, "an update in time");
  expect((await store.inventory.readHead()).seq).toBe(before + 1);
});
