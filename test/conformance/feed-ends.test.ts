import { expect, test } from "bun:test";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { revokeKey, rotateKey } from "../../src/domain/keys/lifecycle.ts";
import { onEveryEngine, withService } from "../support/conformance.ts";
import { openFeed, requestFeed } from "../support/feed.ts";
import { upTo } from "../support/history.ts";
import { startTestService } from "../support/service.ts";
import { connectRaw } from "../support/socket.ts";
import { setUnit } from "../support/units.ts";
import { until } from "../support/until.ts";

const bounds = { streamsMax: 10_000, heartbeatMsMax: 400, stallMs: 10_000 };

onEveryEngine(
  "the end of a stream",
  (service, engine) => {
    const tip = async () => (await service().store.history.readTip()).seq;
    const open = (key: string) => openFeed(service().baseUrl, { key });

    /** Runs `work`. The stream of the key must end, and that of another key must go on. */
    async function expectEnd(key: string, work: () => Promise<unknown>): Promise<void> {
      const other = await open((await service().issueKey()).text);
      const feed = await open(key);
      await work();
      expect(await feed.closed()).toBe("ended");
      await service().addPets({ petId: BigInt((await tip()) + 1_000) });
      expect(await other.changes(1)).toEqual([await tip()]);
      other.leave();
    }

    test("[feed.revoked] a stream ends when its key is revoked", async () => {
      const { id, text } = await service().issueKey();
      await expectEnd(text, () => revokeKey(service().store, id, byCommand(service().clock.now())));
    });

    test("[feed.expired] a stream ends when its key or the secret that opened it expires", async () => {
      const { clock } = service();
      const { text } = await service().issueKey({ expiresAt: clock.now() + 60_000 });
      await expectEnd(text, async () => clock.advance(60_000));
      const rotated = await service().issueKey();
      const { store } = service();
      await expectEnd(rotated.text, () =>
        rotateKey(store, "production", rotated.id, byCommand(clock.now()), 0),
      );
    });

    test("[feed.banned] a stream ends when its key is banned", async () => {
      const limits = { perMinute: 2, perDay: 1_000 };
      const { text: key } = await service().issueKey({ plan: "enterprise", limits });
      await expectEnd(key, async () => {
        const ask = () => service().call("GET", "/inventory", { key });
        for (let sent = 0; sent < 2; sent++) await ask();
        service().clock.advance(1_001);
        for (let strike = 0; strike < 20; strike++) await ask();
      });
    });

    test("[feed.stopped] a stop ends all streams at once and does not wait for them", async () => {
      // Without the end of the streams, the stop would wait ten minutes for them.
      const stopping = await startTestService(engine, {}, { stopGraceMs: 600_000 });
      const { text: key } = await stopping.issueKey();
      const feeds = await Promise.all(upTo(5).map(() => openFeed(stopping.baseUrl, { key })));
      await stopping.stop();
      for (const feed of feeds) expect(await feed.closed()).toBe("ended");
    });
  },
  { "streams-per-key": "1" },
  { feed: bounds },
);

// These do not depend on the engine, and wait most of the time.

test.concurrent("[feed.heartbeat] heartbeats keep a quiet stream open beyond the idle timeout", async () => {
  await withService("sqlite", { "idle-timeout-seconds": "1" }, async (service) => {
    const { text: key } = await service.issueKey();
    await service.addPets({ petId: 1n });
    const feed = await openFeed(service.baseUrl, { key });
    // Bun checks idle connections every four seconds.
    for (const started = performance.now(); performance.now() - started < 5_000; ) {
      expect(await feed.next()).toMatchObject({ kind: "heartbeat", seq: 1 });
    }
    await service.store.inventory.commit([setUnit(1n, 2)]);
    expect(await feed.changes(1)).toEqual([2]);
    feed.leave();
  });
});

test.concurrent("[feed.slow] a client that does not read is cut off with its connection", async () => {
  const flags = { "streams-per-key": "1" };
  // Longer than a busy machine takes to get to the first check below.
  const feed = { ...bounds, stallMs: 2_000 };
  const service = await startTestService("sqlite", flags, { feed });
  const { text: key } = await service.issueKey();
  await service.addPets({ petId: 1n });
  // More than the kernel takes for a client: long reasons make large rows.
  const reason = "x".repeat(2_000);
  await service.store.inventory.commit(upTo(6_000).map((count) => setUnit(1n, count, { reason })));
  const stalled = await connectRaw(service.baseUrl);
  const head = `Host: shop\r\nAuthorization: Bearer ${key}\r\nAccept: text/event-stream`;
  stalled.send(`GET /v1/changes?after=0 HTTP/1.1\r\n${head}\r\n\r\n`);
  expect((await stalled.answer()).status).toBe(200);
  stalled.pause();
  const isRefused = async () => {
    const { status, leave } = await requestFeed(service.baseUrl, { key });
    leave();
    return status === 429;
  };
  expect(await isRefused()).toBe(true);
  await until(async () => !(await isRefused()), 20_000, "the stalled stream keeps its place");
  stalled.resume();
  expect(await stalled.closed()).not.toEndWith("0\r\n\r\n");
  await service.stop();
});
