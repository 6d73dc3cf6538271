import { afterEach, beforeEach, expect, test } from "bun:test";
import { SQL } from "bun";
import type { Store } from "../../src/domain/store.ts";
import { createDatabase } from "../../src/store/postgres/engine/database.ts";
import { anEntry } from "../support/audit.ts";
import { createTestClock, type TestClock } from "../support/clock.ts";
import { openConnected } from "../support/postgres-store.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { webhookNamed } from "../support/webhooks.ts";

/** The leases of webhooks, for which several instances compete. */

const leaseMs = 30_000;
let url: string;
let clock: TestClock;
let stores: Store[];
beforeEach(async () => {
  url = await createdDatabase();
  clock = createTestClock();
  stores = await Promise.all([open(), open()]);
});
afterEach(() => Promise.all(stores.map((store) => store.close())));

const open = () =>
  openConnected({ database: createDatabase(url), environment: "production", clock });

async function addWebhooks(...ids: string[]): Promise<void> {
  for (const id of ids) await stores[0]!.webhooks.addWebhook(webhookNamed(id), anEntry);
}

const claim = async (at: number, holder = `instance ${at}`) =>
  (await stores[at]!.webhooks.claimWebhooks(holder, leaseMs)).map(({ id }) => id);

const save = (at: number, id: string, seq: number) => {
  const cursor = { epoch: "first", seq };
  const progress = { cursor, failures: 0, failingSince: null, nextAttemptAt: 0 };
  const delivered = [{ id, replays: 0, progress, attempts: [] }];
  return stores[at]!.webhooks.saveDelivered(`instance ${at}`, delivered);
};

test("an instance gets the webhooks of another when their lease expires or is released, and not before", async () => {
  await addWebhooks("wh_a", "wh_b");
  expect(await claim(0)).toEqual(["wh_a", "wh_b"]);
  clock.advance(leaseMs - 1);
  expect(await claim(1)).toEqual([]);
  clock.advance(1);
  expect(await claim(1)).toEqual(["wh_a", "wh_b"]);
  expect(await claim(0)).toEqual([]);
  await addWebhooks("wh_c");
  expect(await claim(0)).toEqual(["wh_c"]);
  expect(await claim(1)).toEqual(["wh_a", "wh_b"]);
  await stores[1]!.webhooks.releaseWebhooks("instance 1");
  expect(await claim(0)).toEqual(["wh_a", "wh_b", "wh_c"]);
});

test("a lease that was given while the clock was ahead ends its length after the clock was corrected", async () => {
  await addWebhooks("wh_a", "wh_b");
  clock.jump(400 * 86_400_000);
  expect(await claim(0)).toEqual(["wh_a", "wh_b"]);
  clock.jump(-400 * 86_400_000);
  expect(await claim(1)).toEqual([]);
  expect(await save(0, "wh_a", 5)).toEqual(["wh_a"]);
  clock.advance(leaseMs - 1);
  expect(await claim(1)).toEqual([]);
  clock.advance(1);
  expect(await claim(1)).toEqual(["wh_a", "wh_b"]);
});

test("instances that claim at the same time never hold the same webhook, and together hold all", async () => {
  stores.push(...(await Promise.all([open(), open()])));
  const ids = Array.from({ length: 30 }, (_, at) => `wh_${at}`);
  await addWebhooks(...ids);
  for (let round = 0; round < 4; round++) {
    const held = await Promise.all(stores.map((_, at) => claim(at, `${round} ${at}`)));
    expect(held.flat().toSorted()).toEqual(ids.toSorted());
    clock.advance(leaseMs);
  }
});

test("every claim begins the whole lease again", async () => {
  await addWebhooks("wh_a", "wh_b");
  expect(await claim(0)).toEqual(["wh_a", "wh_b"]);
  clock.advance(leaseMs - 1);
  expect(await claim(0)).toEqual(["wh_a", "wh_b"]);
  clock.advance(leaseMs - 1);
  expect(await claim(1)).toEqual([]);
  clock.advance(1);
  expect(await claim(1)).toEqual(["wh_a", "wh_b"]);
});

test("progress is saved after the lease has expired, unless another instance has the webhook", async () => {
  await addWebhooks("wh_a");
  await claim(0);
  clock.advance(2 * leaseMs);
  expect(await save(0, "wh_a", 1)).toEqual(["wh_a"]);
  expect(await claim(1)).toEqual(["wh_a"]);
  expect(await save(0, "wh_a", 2)).toEqual([]);
  expect(await stores[1]!.webhooks.findWebhook("wh_a")).toMatchObject({ cursor: { seq: 1 } });
});

test("webhooks are claimed and saved while a commit has locked the end of the ledger", async () => {
  await addWebhooks("wh_a");
  await using sql = new SQL(url, { max: 1 });
  await sql.begin(async (commit) => {
    await commit`SELECT FROM store, ledger_end FOR UPDATE`;
    expect(await claim(0)).toEqual(["wh_a"]);
    expect(await save(0, "wh_a", 1)).toEqual(["wh_a"]);
  });
});
