import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { pauseWebhook, replayWebhook, resumeWebhook } from "../../src/domain/webhooks/lifecycle.ts";
import { engines } from "../support/service.ts";
import { setUnit } from "../support/units.ts";
import { answer, type Behaviour, type Receiver, startReceiver } from "../support/webhooks/receiver.ts";
import { range, startWebhookService, type WebhookService } from "../support/webhooks/service.ts";

describe.each(engines)("deliveries on %s", (engine) => {
  let service: WebhookService;
  let receiver: Receiver;
  let others: Receiver[] = [];
  beforeAll(async () => {
    service = await startWebhookService(engine);
  });
  afterAll(() => service.stop());
  afterEach(async () => {
    for (const { id } of await service.store.webhooks.listWebhooks()) {
      await service.store.webhooks.removeWebhook(id);
    }
    await Promise.all([receiver, ...others].map((one) => one.stop()));
    others = [];
  });

  const cases: Record<string, () => Behaviour | Promise<Behaviour>> = {
    fails: () => answer(500),
    hangs: () => () => {},
    "answers too late": () => (response) => void setTimeout(() => response.end(), 400),
    redirects: async () => {
      const target = await startReceiver();
      others.push(target);
      return answer(307, { location: target.url });
    },
    "resets the connection": () => (_, request) => void request.socket.resetAndDestroy(),
    "closes within the response": () => (_, request) => void request.socket.end("HTTP/1.1 200"),
    "sends an endless error": () => (response) => {
      response.writeHead(500);
      const send = () => void response.write("x".repeat(16_384), send);
      response.on("error", () => {});
      send();
    },
  };

  test.each(Object.keys(cases))(
    "a receiver that %s twice gets every change, in order, and nobody else does",
    async (name) => {
      receiver = await startReceiver();
      const behaviour = await cases[name]!();
      const { id } = await service.create({ url: receiver.url });
      receiver.behaveOnce(behaviour, behaviour);
      const first = await service.change(1, 2, 3);
      await service.retriedUntil(id, () => receiver.received.length >= 2);
      const last = await service.change(4, 5);
      await service.retriedUntil(id, () => receiver.confirmed.at(-1) === last);
      expect(receiver.confirmed).toEqual(range(first - 2, last));
      // A message that is repeated is the same in every attempt.
      const [one, two, three] = receiver.received;
      expect([two!.body, three!.body]).toEqual([one!.body, one!.body]);
      expect(two!.headers["webhook-id"]).toBe(one!.headers["webhook-id"]!);
      expect(others.flatMap((other) => other.received)).toEqual([]);
      await service.becomes(async () => (await service.find(id)).cursor.seq === last);
      const attempts = await service.store.webhooks.listAttempts(id, 10);
      expect(attempts.slice(-2).map(({ status }) => status === null || status >= 300)).toEqual([
        true,
        true,
      ]);
      expect(attempts[0]!.status).toBe(204);
    },
  );

  test("an endless body does not make a confirmation a failure", async () => {
    receiver = await startReceiver((response) => {
      response.on("error", () => {});
      const send = () => void response.write("x".repeat(16_384), send);
      send();
    });
    const { id } = await service.create({ url: receiver.url });
    const last = await service.change(1);
    await service.becomes(async () => (await service.find(id)).cursor.seq === last);
    const [attempt] = await service.store.webhooks.listAttempts(id, 1);
    expect(attempt).toMatchObject({ status: 200, answer: "x".repeat(1_024) });
  });

  test("a receiver that dies and comes back gets every change, and the log has two lines", async () => {
    receiver = await startReceiver();
    const { id } = await service.create({ url: receiver.url });
    const before = service.events().length;
    const first = await service.change(1);
    await service.becomes(() => receiver.confirmed.length === 1);
    await receiver.stop();
    await service.change(2);
    await service.retriedUntil(id, async () => (await service.find(id)).failures >= 3);
    const last = await service.change(3);
    await receiver.start();
    await service.retriedUntil(id, () => receiver.confirmed.at(-1) === last);
    expect(receiver.confirmed).toEqual(range(first, last));
    await service.becomes(async () => (await service.find(id)).failures === 0);
    expect(service.events().slice(before)).toMatchObject([
      { event: "webhook failing", id },
      { event: "webhook delivering again", id },
    ]);
  });

  test("Retry-After is honoured", async () => {
    receiver = await startReceiver();
    receiver.behaveOnce(answer(503, { "retry-after": "7200" }));
    const { id } = await service.create({ url: receiver.url });
    await service.change(1);
    await service.becomes(async () => (await service.find(id)).failures === 1);
    const { nextAttemptAt, failingSince } = await service.find(id);
    expect(nextAttemptAt - failingSince!).toBe(7_200_000);
    service.clock.advance(7_199_000);
    const other = await service.create({ url: receiver.url });
    // Another webhook delivers, so there was time for this one.
    await service.change(2);
    await service.becomes(async () => (await service.find(other.id)).cursor.seq > 0);
    expect((await service.find(id)).failures).toBe(1);
    service.clock.advance(1_000);
    await service.becomes(async () => (await service.find(id)).failures === 0);
  });

  test("410 disables a webhook, and a resumed one continues where it stopped", async () => {
    receiver = await startReceiver(answer(410));
    const { id } = await service.create({ url: receiver.url });
    const before = service.events().length;
    const first = await service.change(1, 2);
    await service.becomes(async () => (await service.find(id)).state === "disabled");
    const last = await service.change(3);
    expect(receiver.received.length).toBe(1);
    receiver.behave(answer(200));
    await resumeWebhook(service.store, id);
    await service.becomes(() => receiver.confirmed.at(-1) === last);
    expect(receiver.confirmed).toEqual(range(first - 1, last));
    expect(service.events().slice(before)).toMatchObject([{ event: "webhook disabled", id }]);
  });

  test("after three days of failures a webhook is paused with one line in the log", async () => {
    receiver = await startReceiver(answer(500));
    const { id } = await service.create({ url: receiver.url });
    const before = service.events().length;
    const first = await service.change(1);
    await service.becomes(async () => (await service.find(id)).failures === 1);
    const since = (await service.find(id)).failingSince!;
    service.clock.set(since + 72 * 3_600_000 - 1);
    await service.becomes(async () => (await service.find(id)).failures === 2);
    expect((await service.find(id)).state).toBe("active");
    await service.retriedUntil(id, async () => (await service.find(id)).state === "paused");
    const { stateReason } = await service.find(id);
    expect(stateReason).toContain("status 500");
    await service.becomes(() => service.events().length === before + 2);
    expect(service.events().slice(before)).toMatchObject([
      { event: "webhook failing", id, result: "status 500" },
      { event: "webhook paused", id, reason: stateReason },
    ]);
    receiver.behave(answer(200));
    await resumeWebhook(service.store, id);
    await service.becomes(() => receiver.confirmed.at(-1) === first);
  });

  test("a clock that goes back does not stop retries", async () => {
    receiver = await startReceiver();
    receiver.behaveOnce(answer(500));
    const { id } = await service.create({ url: receiver.url });
    const start = service.clock.now();
    const last = await service.change(1);
    await service.becomes(async () => (await service.find(id)).failures === 1);
    service.clock.set(start - 30 * 86_400_000);
    // The first delay is at most five seconds of real time.
    await service.becomes(() => receiver.confirmed.at(-1) === last);
    service.clock.set(start);
  });

  test("a webhook that lags gets messages of at most 100 changes and 20,000 bytes", async () => {
    receiver = await startReceiver();
    const { id } = await service.create({ url: receiver.url });
    await pauseWebhook(service.store, id);
    const first = await service.change(...range(1, 230));
    const reason = "ü".repeat(200);
    const long = range(1, 120).map((quantity) => setUnit(1n, quantity, { reason }));
    const { rows } = await service.store.inventory.commit(long);
    await resumeWebhook(service.store, id);
    const last = rows.at(-1)!.seq;
    await service.becomes(() => receiver.confirmed.at(-1) === last);
    expect(receiver.confirmed).toEqual(range(first - 229, last));
    const sizes = receiver.received.map(({ body }) => Buffer.byteLength(body));
    const counts = receiver.received.map(({ seqs }) => seqs.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(20_000);
    expect(Math.max(...counts)).toBeLessThanOrEqual(100);
    // Full messages: the next change would not have fitted.
    for (const [at, size] of sizes.slice(0, -1).entries()) {
      expect(counts[at] === 100 || size > 19_000).toBe(true);
    }
    const body = JSON.parse(receiver.received[0]!.body);
    expect(Object.keys(body)).toEqual(["type", "timestamp", "data"]);
    expect(body.type).toBe("inventory.changed");
    expect(body.timestamp).toBe(body.data.changes.at(-1).at);
  });

  test("a burst of changes becomes one message", async () => {
    receiver = await startReceiver();
    await service.create({ url: receiver.url });
    const { text: key } = await service.issueKey();
    const patch = (quantity: number) =>
      service.call("PATCH", "/inventory/1", { key, body: JSON.stringify({ quantity }), headers: { "Content-Type": "application/json" } });
    await patch(1);
    await Promise.all(range(2, 12).map(patch));
    await service.becomes(() => receiver.confirmed.length === 12);
    expect(receiver.received.length).toBeLessThanOrEqual(2);
  });

  test("filters select changes, and a threshold fires only when it is crossed", async () => {
    receiver = await startReceiver();
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

  test("a replay sends changes again with new ids, and a paused webhook stays paused", async () => {
    receiver = await startReceiver();
    const { id } = await service.create({ url: receiver.url });
    const last = await service.change(1, 2, 3);
    await service.becomes(() => receiver.confirmed.at(-1) === last);
    await replayWebhook(service.store, id, last - 1);
    await service.becomes(() => receiver.confirmed.length === 5);
    expect(receiver.confirmed.slice(3)).toEqual([last - 1, last]);
    await replayWebhook(service.store, id, last - 2);
    await service.becomes(() => receiver.confirmed.length === 8);
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(3);
    await pauseWebhook(service.store, id);
    expect((await replayWebhook(service.store, id, 1)).state).toBe("paused");
    expect((await service.find(id)).cursor.seq).toBe(0);
  });
});
