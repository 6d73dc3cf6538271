import { expect, test } from "bun:test";
import { SQL } from "bun";
import { readConfig } from "../../src/config.ts";
import { systemClock } from "../../src/opening/engines.ts";
import { openOrCreateStore } from "../../src/opening/stores.ts";
import { startFleet } from "../support/instances/fleet.ts";
import { startPair } from "../support/instances/pair.ts";
import { entriesOf, withDatabase } from "../support/instances/recording.ts";
import { openSlowProxy } from "../support/instances/slow-network.ts";
import { importPets } from "../support/stocking.ts";
import { until } from "../support/until.ts";

const recoveryMsMax = 20_000;

/** How long an instance may read from a primary that was replaced but never stopped. */
const unnoticedMsMax = 10_000;

const quantityAt = async (url: string) =>
  Number((await withDatabase(url, (sql) => sql`SELECT quantity FROM inventory`.values()))[0][0]);

/** Requests that the limiter has counted for a key today. */
async function countedAt(url: string, keyId: string): Promise<number> {
  const store = await openOrCreateStore(readConfig({ database: url }, {}), systemClock);
  try {
    return (await store.usage.loadUsage()).find((usage) => usage.keyId === keyId)?.dayCount ?? 0;
  } finally {
    await store.close();
  }
}

/** Reads until the list shows this quantity. Anything but that, the old one or 503 is an error. */
async function shows(
  get: () => Promise<{ status: number; quantity: number | undefined }>,
  quantity: number,
  oldQuantity: number,
  withinMs: number,
): Promise<void> {
  const isShown = async () => {
    const list = await get();
    if (list.status === 200) expect([quantity, oldQuantity]).toContain(list.quantity!);
    else expect(list.status).toBe(503);
    return list.quantity === quantity;
  };
  await until(isShown, withinMs, `the list with ${quantity}`);
}

/** Changes the stock from this process, which reaches only the server at this address. */
const setAt = (url: string, quantity: number) =>
  importPets(url, `{"petId":1,"name":"Pet 1","quantity":${quantity}}`);

// Concurrent, because most of the time is spent waiting for servers and deadlines. Servers start one
// after another, so the test that waits longest comes first.
test.concurrent("of an old and a new primary that both accept writes, the new one is used within seconds, also by an instance that only reads or that gets its responses late", async () => {
  await using pair = await startPair({ synchronous: false });
  const { primary, standby, urls, key, get } = pair;
  await pair.acknowledged(1);
  expect((await get()).quantity).toBe(1);
  await pair.replayed();
  await standby.promote();
  await setAt(urls.standby, 2);
  // The instance that runs already only reads. The same behind a proxy is in replaced-primary.endurance.ts.
  await shows(get, 2, 1, unnoticedMsMax);
  // Longer than a start waits.
  const far = openSlowProxy(standby.port, () => 400);
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${far.port}`;
  const late = await startFleet(`postgres://postgres@${hosts}/${pair.name}`, { size: 1 });
  try {
    const lateGet = async () => {
      const { status, text } = await late.call(0, "GET", "/inventory", { key });
      return { status, quantity: entriesOf(text).get(1n) };
    };
    await shows(lateGet, 2, 1, recoveryMsMax);
    const body = '{"quantity":3}';
    const isUpdated = async () =>
      (await late.call(0, "PATCH", "/inventory/1", { key, body })).status === 200;
    await until(isUpdated, 2 * recoveryMsMax, "an update");
    expect(await quantityAt(urls.standby)).toBe(3);
    await pair.acknowledged(4);
    expect(await quantityAt(urls.standby)).toBe(4);
    expect(await quantityAt(urls.primary)).toBe(1);
  } finally {
    await late.leave();
    far.close();
  }
});

test.concurrent("no list is read, no update acknowledged and no request counted by an old primary that resumes once a newer one is known, over connections that a proxy kept", async () => {
  await using pair = await startPair({ synchronous: false, through: "proxy" });
  const { primary, standby, proxy, urls, fleet, keyId, patch, get, isReady } = pair;
  expect((await get()).status).toBe(200);
  expect(await patch(1)).toBe(200);
  // Exact at any time: two requests after a rest are too few to count more in advance.
  expect(await countedAt(urls.primary, keyId)).toBe(2);
  await pair.replayed();
  primary.pause();
  await standby.promote();
  proxy.redirect(standby.port);
  // No requests: the connections for commits, limits and pages do not notice.
  await fleet.instance(0).wrote("database primary replaced");
  await until(isReady, recoveryMsMax, "readiness");
  primary.resume();
  await pair.acknowledged(2);
  expect(await quantityAt(urls.standby)).toBe(2);
  expect(await quantityAt(urls.primary)).toBe(1);
  expect(await countedAt(urls.standby, keyId)).toBeGreaterThan(2);
  expect(await countedAt(urls.primary, keyId)).toBe(2);
  const seen = [];
  for (let turn = 0; turn < 20; turn++) {
    const { status, quantity } = await get();
    if (status !== 503) seen.push(quantity);
  }
  expect(new Set(seen)).toEqual(new Set([2]));
});

test.concurrent("an update running on an old primary when a newer one becomes known is not acknowledged", async () => {
  await using pair = await startPair({ synchronous: false, through: "proxy" });
  const { standby, proxy, urls, fleet, patch } = pair;
  await pair.acknowledged(1);
  await pair.replayed();
  await standby.promote();
  await using sql = new SQL(urls.primary, { max: 1 });
  const update = await sql.begin(async (locking) => {
    // The update waits in the middle of its transaction, with its COMMIT already sent.
    await locking`LOCK TABLE ledger IN SHARE MODE`;
    const updating = patch(2);
    const isWaiting = async () =>
      (await locking`SELECT FROM pg_locks WHERE NOT granted AND relation = 'ledger'::regclass`)
        .length > 0;
    await until(isWaiting, recoveryMsMax, "the update at the lock");
    proxy.redirect(standby.port);
    await fleet.instance(0).wrote("database primary replaced");
    return { updating };
  });
  expect(await update.updating).toBe(503);
  expect(await quantityAt(urls.standby)).toBe(1);
  await pair.acknowledged(3);
  expect(await quantityAt(urls.standby)).toBe(3);
});
