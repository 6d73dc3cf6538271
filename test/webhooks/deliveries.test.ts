import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { pauseWebhook, replayWebhook, resumeWebhook } from "../../src/domain/webhooks/lifecycle.ts";
import { anEntry } from "../support/audit.ts";
import { surfaceEngine } from "../support/service.ts";
import { setUnit } from "../support/units.ts";
import {
  answer,
  answerEndlessly,
  type Behaviour,
  type Receiver,
  startReceiver,
} from "../support/webhooks/receiver.ts";
import { range, startWebhookService, type WebhookService } from "../support/webhooks/service.ts";

describe.each([surfaceEngine])("deliveries on %s", (engine) => {
  let service: WebhookService;
  let receivers: Receiver[] = [];
  let elsewhere: Receiver;
  beforeAll(async () => {
    service = await startWebhookService(engine);
  });
  afterAll(() => service.stop());
  afterEach(async () => {
    for (const { id } of await service.store.webhooks.listWebhooks()) {
      await service.store.webhooks.removeWebhook(id, anEntry);
    }
    await Promise.all(receivers.map((receiver) => receiver.stop()));
    receivers = [];
  });

  async function open(behaviour?: Behaviour): Promise<Receiver> {
    const receiver = await startReceiver(behaviour);
    receivers.push(receiver);
    return receiver;
  }

  /** A test of what does not depend on the store. One engine is enough for it. */
  const testOnce = (name: string, work: () => Promise<void>) => {
    if (engine === "sqlite") test(name, work);
  };

  /** The ways in which a receiver can fail to confirm a message. */
  const failures: Record<string, Behaviour> = {
    "returns an error": answer(500),
    hangs: () => {},
    "answers too late": (response) => void setTimeout(() => response.end(), 4_000),
    redirects: (response) => void response.writeHead(307, { location: elsewhere.url }).end(),
    "resets the connection": (_, request) => void request.socket.resetAndDestroy(),
    "closes within the response": (_, request) => void request.socket.end("HTTP/1.1 200"),
    "sends an endless error": answerEndlessly(500),
  };

  test("receivers that fail in every way get every change, in order, and nobody else does", async () => {
    // The store sees only that an attempt failed, so three ways are enough on the second engine.
    const names = Object.keys(failures).slice(0, engine === "sqlite" ? undefined : 3);
    receivers = await Promise.all([startReceiver(), ...names.map(() => startReceiver())]);
    const failing = receivers.slice(1);
    elsewhere = receivers[0]!;
    const ids = await Promise.all(
      failing.map(async (receiver, at) => {
        receiver.behaveOnce(failures[names[at]!]!, failures[names[at]!]!);
        return (await service.create({ url: receiver.url })).id;
      }),
    );
    const first = (await service.change(1, 2, 3)) - 2;
    await service.retriedUntil(ids, () => failing.every(({ received }) => received.length >= 2));
    const last = await service.change(4, 5);
    await service.retriedUntil(ids, () => failing.every((one) => one.confirmed.at(-1) === last));
    for (const [at, { received, confirmed }] of failing.entries()) {
      const name = names[at]!;
      expect({ name, confirmed }).toEqual({ name, confirmed: range(first, last) });
      // A message that is sent again is the same.
      const sent = received.slice(0, 3).map(({ body, headers }) => [headers["webhook-id"], body]);
      expect({ name, sent }).toEqual({ name, sent: Array(3).fill(sent[0]) });
      const cursor = async () => (await service.find(ids[at]!)).cursor.seq;
      await service.becomes(async () => (await cursor()) === last);
      const attempts = await service.store.webhooks.listAttempts(ids[at]!, 10);
      const isSuccess = attempts.map(({ status }) => status === 204).reverse();
      expect({ name, isSuccess }).toMatchObject({ name, isSuccess: [false, false, true, true] });
    }
    expect(elsewhere.received).toEqual([]);
  });

  test("a receiver that dies and comes back gets every change, and the log has two lines", async () => {
    const receiver = await open();
    const { id } = await service.create({ url: receiver.url });
    const first = await service.change(1);
    await service.becomes(() => receiver.confirmed.length === 1);
    await receiver.stop();
    await service.change(2);
    await service.retriedUntil([id], async () => (await service.find(id)).failures >= 3);
    const last = await service.change(3);
    await receiver.start();
    await service.retriedUntil([id], () => receiver.confirmed.at(-1) === last);
    expect(receiver.confirmed).toEqual(range(first, last));
    await service.becomes(async () => (await service.find(id)).failures === 0);
    expect(service.events(id)).toMatchObject([
      { event: "webhook failing", id },
      { event: "webhook delivering again", id },
    ]);
  });

  test("410 disables a webhook, and a resumed one continues where it stopped", async () => {
    const receiver = await open(answer(410));
    const { id } = await service.create({ url: receiver.url });
    const first = await service.change(1, 2);
    await service.becomes(async () => (await service.find(id)).state === "disabled");
    const last = await service.change(3);
    expect(receiver.received.length).toBe(1);
    receiver.behave(answer(200));
    await resumeWebhook(service.store, id, byCommand(Date.now()));
    await service.becomes(() => receiver.confirmed.at(-1) === last);
    expect(receiver.confirmed).toEqual(range(first - 1, last));
    expect(service.events(id)).toMatchObject([{ event: "webhook disabled", id }]);
  });

  testOnce(
    "a webhook that lags gets messages of at most 100 changes and 20,000 bytes",
    async () => {
      const receiver = await open();
      const first = (await service.change(...range(1, 230))) - 229;
      const reason = "ü".repeat(200);
      const long = range(1, 120).map((quantity) => setUnit(1n, quantity, { reason }));
      const { rows } = await service.store.inventory.commit(long);
      await service.create({ url: receiver.url, from: first });
      const last = rows.at(-1)!.seq;
      await service.becomes(() => receiver.confirmed.at(-1) === last);
      expect(receiver.confirmed).toEqual(range(first, last));
      const sizes = receiver.received.map(({ body }) => Buffer.byteLength(body));
      const counts = receiver.received.map(({ seqs }) => seqs.length);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(20_000);
      expect(Math.max(...counts)).toBeLessThanOrEqual(100);
      // Full messages: the next change would not have fitted. One may end before the long changes, of
      // which the service learns a moment later, because it did not store them.
      const isShort = (size: number, at: number) => counts[at] !== 100 && size <= 19_000;
      expect(sizes.slice(0, -1).filter(isShort).length).toBeLessThanOrEqual(1);
      const body = JSON.parse(receiver.received[0]!.body);
      expect(Object.keys(body)).toEqual(["type", "timestamp", "data"]);
      expect(body.type).toBe("inventory.changed");
      expect(body.timestamp).toBe(body.data.changes.at(-1).at);
    },
  );

  testOnce("changes that come within 50 ms are sent together", async () => {
    const receiver = await open();
    const { id } = await service.create({ url: receiver.url });
    const { text: key } = await service.issueKey();
    const headers = { "Content-Type": "application/json" };
    const patch = (quantity: number) =>
      service.call("PATCH", "/inventory/1", { key, headers, body: JSON.stringify({ quantity }) });
    await patch(0);
    await service.becomes(() => receiver.confirmed.length === 1);
    const started = performance.now();
    for (const quantity of range(1, 40)) await patch(quantity);
    await service.becomes(() => receiver.confirmed.length === 41);
    const messagesMax = (performance.now() - started) / 50 + 1;
    expect(receiver.received.length - 1).toBeLessThanOrEqual(messagesMax);
    expect((await service.find(id)).failures).toBe(0);
  });

  test("a replay sends changes again with new ids, and a paused webhook stays paused", async () => {
    const receiver = await open();
    const { id } = await service.create({ url: receiver.url });
    const last = await service.change(1, 2, 3);
    await service.becomes(() => receiver.confirmed.at(-1) === last);
    await replayWebhook(service.store, id, last - 1, byCommand(Date.now()));
    await service.becomes(() => receiver.confirmed.length === 5);
    expect(receiver.confirmed.slice(3)).toEqual([last - 1, last]);
    await replayWebhook(service.store, id, last - 2, byCommand(Date.now()));
    await service.becomes(() => receiver.confirmed.length === 8);
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(3);
    await pauseWebhook(service.store, id, byCommand(Date.now()));
    expect((await replayWebhook(service.store, id, 1, byCommand(Date.now()))).state).toBe("paused");
    expect((await service.find(id)).cursor.seq).toBe(0);
  });
});
