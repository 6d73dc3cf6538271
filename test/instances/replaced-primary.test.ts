import { expect, test } from "bun:test";
import { SQL } from "bun";
import { readConfig } from "../../src/config.ts";
import { systemClock } from "../../src/engines.ts";
import { openStore } from "../../src/stores.ts";
import { until } from "../support/instances/fleet.ts";
import { startPair } from "../support/instances/pair.ts";
import { withDatabase } from "../support/instances/recording.ts";
import { importPets } from "../support/stocking.ts";

const recoveryMsMax = 20_000;

/** How long an instance may read from a primary that was replaced but never stopped. */
const unnoticedMsMax = 10_000;

/** Asks less often than `until`, because these waits take seconds. */
const untilLate = (isTrue: () => Promise<boolean>, patienceMs: number, what: string) =>
  until(
    async () => {
      if (await isTrue()) return true;
      await Bun.sleep(40);
      return false;
    },
    patienceMs,
    what,
  );

const quantityAt = async (url: string) =>
  Number((await withDatabase(url, (sql) => sql`SELECT quantity FROM inventory`.values()))[0][0]);

/** Requests that the limiter has counted for a key today. */
async function countedAt(url: string, keyId: string): Promise<number> {
  const store = await openStore(readConfig({ database: url }, {}), systemClock);
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
  await untilLate(isShown, withinMs, `the list with ${quantity}`);
}

/** Changes the stock from this process, which reaches only the server at this address. */
const setAt = (url: string, quantity: number) =>
  importPets(url, `{"petId":1,"name":"Pet 1","quantity":${quantity}}`);

// Concurrent, because most of the time is spent waiting for servers and deadlines. Servers start one
// after another, so the test that waits longest comes first.
test.concurrent("of an old and a new primary that both accept writes, the new one is used within seconds, also by an instance that only reads", async () => {
  await using pair = await startPair({ synchronous: false });
  const { standby, urls, patch, get } = pair;
  expect(await patch(1)).toBe(200);
  expect((await get()).quantity).toBe(1);
  await pair.replayed();
  await standby.promote();
  await setAt(urls.standby, 2);
  // The instance that runs already only reads. The same behind a proxy is in replaced-primary.endurance.ts.
  await shows(get, 2, 1, unnoticedMsMax);
  expect(await patch(3)).toBe(200);
  expect(await quantityAt(urls.standby)).toBe(3);
  expect(await quantityAt(urls.primary)).toBe(1);
}, 120_000);

test.concurrent("once a newer primary is known, the old one acknowledges no running update, and no list is read and no request counted there, over connections that a proxy kept", async () => {
  await using pair = await startPair({ synchronous: false, through: "proxy" });
  const { standby, proxy, urls, fleet, keyId, patch, get } = pair;
  expect((await get()).status).toBe(200);
  expect(await patch(1)).toBe(200);
  await pair.replayed();
  await standby.promote();
  await using sql = new SQL(urls.primary, { max: 1 });
  const update = await sql.begin(async (locking) => {
    // The update waits in the middle of its transaction, with its COMMIT already sent.
    await locking`LOCK TABLE ledger IN SHARE MODE`;
    const updating = patch(2);
    const isWaiting = async () =>
      (await locking`SELECT FROM pg_locks WHERE NOT granted`.values()).length > 0;
    await until(isWaiting, recoveryMsMax, "the update at the lock");
    proxy.redirect(standby.port);
    await fleet.instance(0).wrote("database primary replaced");
    return { updating };
  });
  expect(await update.updating).toBe(503);
  expect(await quantityAt(urls.standby)).toBe(1);
  // The old primary still responds. replaced-primary.endurance.ts stops it for a while.
  const counted = () =>
    Promise.all([urls.primary, urls.standby].map((url) => countedAt(url, keyId)));
  const [oldCount, newCount] = await counted();
  expect(await patch(3)).toBe(200);
  expect(await quantityAt(urls.standby)).toBe(3);
  expect(await counted()).toEqual([oldCount!, newCount! + 1]);
  const seen = [];
  for (let turn = 0; turn < 20; turn++) {
    const { status, quantity } = await get();
    if (status !== 503) seen.push(quantity);
  }
  expect(new Set(seen)).toEqual(new Set([3]));
}, 120_000);
