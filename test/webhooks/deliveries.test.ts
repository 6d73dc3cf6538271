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

const hourMs = 3_600_000;

describe.each([surfaceEngine])("deliveries on %s", (engine) => {
  let service: WebhookService;
  let receivers: Receiver[] = [];
  let elsewhere: Receiver;
  beforeAll(async () => {
    service = await startWebhookService(engine, { timeoutMs: 2_000 });
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

  testOnce("an endless body does not make a confirmation a failure", async () => {
    const receiver = await open(answerEndlessly(200));
    const { id } = await service.create({ url: receiver.url });
    const last = await service.change(1);
    await service.becomes(async () => (await service.find(id)).cursor.seq === last);
    const [attempt] = await service.store.webhooks.listAttempts(id, 1);
    expect(attempt).toMatchObject({ status: 200, answer: "x".repeat(1_024) });
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

  testOnce("Retry-After is honoured", async () => {
    const receiver = await open();
    receiver.behaveOnce(answer(503, { "retry-after": "7200" }));
    const { id } = await service.create({ url: receiver.url });
    await service.change(1);
    await service.becomes(async () => (await service.find(id)).failures === 1);
    const { nextAttemptAt, failingSince } = await service.find(id);
    expect(nextAttemptAt - failingSince!).toBe(7_200_000);
    service.clock.advance(7_199_000);
    const other = await service.create({ url: receiver.url });
    // Another webhook delivers, so there was time for this one.
    const last = await service.change(2);
    await service.becomes(async () => (await service.find(other.id)).cursor.seq === last);
    expect((await service.find(id)).failures).toBe(1);
    service.clock.advance(1_000);
    await service.becomes(async () => (await service.find(id)).failures === 0);
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

  test("after three days of failures a webhook is paused with one line in the log", async () => {
    const receiver = await open(answer(500));
    const { id } = await service.create({ url: receiver.url });
    const first = await service.change(1);
    await service.becomes(async () => (await service.find(id)).failures === 1);
    const since = (await service.find(id)).failingSince!;
    // A jump of the clock is not a time of failures.
    service.clock.jump(400 * 24 * hourMs);
    await service.becomes(async () => (await service.find(id)).failures === 2);
    const jumpedAt = service.clock.now();
    await service.retriedUntil([id], async () => (await service.find(id)).state === "paused");
    const failedMs = service.clock.now() - jumpedAt;
    expect(failedMs).toBeGreaterThan(70 * hourMs);
    expect(failedMs).toBeLessThan(77 * hourMs);
    expect((await service.find(id)).failingSince).toBeGreaterThan(since);
    const { stateReason } = await service.find(id);
    expect(stateReason).toContain("status 500");
    await service.becomes(() => service.events(id).length === 2);
    expect(service.events(id)).toMatchObject([
      { event: "webhook failing", id, result: "status 500" },
      { event: "webhook paused", id, reason: stateReason },
    ]);
    receiver.behave(answer(200));
    await resumeWebhook(service.store, id, byCommand(Date.now()));
    await service.becomes(() => receiver.confirmed.at(-1) === first);
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

  testOnce("filters select changes, and a threshold fires only when it is crossed", async () => {
    const receiver = await open();
    await service.change(10);
    await service.addPets({ petId: 2n, quantity: 10, status: "sold" });
    const below = await service.create({ url: receiver.url, below: 5, pets: ["1"] });
    const crossings = [4, 3, 5, 9, 0, 0];
    const seq = await service.change(...crossings);
    const from = seq - crossings.length + 1;
    await service.store.inventory.commit([setUnit(2n, 1)]);
    const undone = await service.store.inventory.commit([setUnit(1n, 7, { cause: "undo" })]);
    await service.becomes(
      async () => (await service.find(below.id)).cursor.seq === undone.rows[0]!.seq,
    );
    expect(receiver.confirmed).toEqual([from, from + 4]);
    const causes = await service.create({ url: receiver.url, causes: ["undo"], from });
    const statuses = await service.create({ url: receiver.url, statuses: ["sold"], from });
    for (const { id } of [causes, statuses]) {
      await service.becomes(async () => (await service.find(id)).cursor.seq > seq + 1);
    }
    expect(receiver.confirmed.slice(2).sort()).toEqual([seq + 1, seq + 2]);
  });

  test("a webhook for low stock gets each crossing of the threshold once", async () => {
    const receiver = await open();
    await service.change(10);
    await service.addPets({ petId: 1n, lowStockAt: 4 });
    const low = await service.create({ url: receiver.url, becomesLow: true });
    const crossings = [5, 4, 3, 5, 9, 0, 0, 50];
    const seq = await service.change(...crossings);
    const from = seq - crossings.length + 1;
    await service.becomes(async () => (await service.find(low.id)).cursor.seq === seq);
    expect(receiver.confirmed).toEqual([from + 1, from + 5]);
    // The threshold that the pet has when a change is read counts, and a pet without one is never low.
    await service.addPets({ petId: 1n, lowStockAt: 20 });
    const last = await service.change(20);
    await service.becomes(() => receiver.confirmed.at(-1) === last);
    await service.addPets({ petId: 1n, lowStockAt: null });
    const end = await service.change(30, 0);
    await service.becomes(async () => (await service.find(low.id)).cursor.seq === end);
    expect(receiver.confirmed).toEqual([from + 1, from + 5, last]);
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
