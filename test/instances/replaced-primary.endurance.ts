import { expect, test } from "bun:test";
import { startFleet } from "../support/instances/fleet.ts";
import { startPair } from "../support/instances/pair.ts";

/** As in docs/scaling.md: a second until the next check, and the time the check takes. */
const windowMsMax = 2_000;
const readingMs = 60_000;

for (const through of ["hosts", "proxy"] as const) {
  test(`an instance that only reads, by ${through}, shows an unfenced old primary no longer than documented`, async () => {
    await using pair = await startPair({ synchronous: false, through });
    const { standby, proxy, urls, key, patch, get } = pair;
    expect(await patch(1)).toBe(200);
    expect((await get()).quantity).toBe(1);
    await pair.replayed();
    await standby.promote();
    proxy.redirect(standby.port);
    const promotedAt = performance.now();
    const other = await startFleet(urls.standby, { size: 1 });
    let acknowledged = 1;
    let ended = false;
    const writing = (async () => {
      for (let quantity = 2; !ended; quantity++) {
        const body = `{"quantity":${quantity}}`;
        const { status } = await other.call(0, "PATCH", "/inventory/1", { key, body });
        if (status === 200) acknowledged = quantity;
        await Bun.sleep(5);
      }
    })();
    let reads = 0;
    let stale = 0;
    let lastStaleMs = 0;
    while (performance.now() - promotedAt < readingMs) {
      const expected = acknowledged;
      const { status, quantity } = await get();
      if (status !== 200) continue;
      reads += 1;
      if (quantity! >= expected) continue;
      stale += 1;
      lastStaleMs = performance.now() - promotedAt;
    }
    ended = true;
    await writing;
    await other.leave();
    console.log(JSON.stringify({ through, reads, stale, lastStaleMs }));
    expect(lastStaleMs).toBeLessThan(windowMsMax);
  }, 200_000);
}
