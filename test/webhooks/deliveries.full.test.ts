import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { resumeWebhook } from "../../src/domain/webhooks/lifecycle.ts";
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
import { startWebhookService, type WebhookService } from "../support/webhooks/service.ts";

const hourMs = 3_600_000;

describe.each([surfaceEngine])("what is delivered, and when, on %s", (engine) => {
  let service: WebhookService;
  let receivers: Receiver[] = [];
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

  testOnce("an endless body does not make a confirmation a failure", async () => {
    const receiver = await open(answerEndlessly(200));
    const { id } = await service.create({ url: receiver.url });
    const last = await service.change(1);
    await service.becomes(async () => (await service.find(id)).cursor.seq === last);
    const [attempt] = await service.store.webhooks.listAttempts(id, 1);
    expect(attempt).toMatchObject({ status: 200, answer: "x".repeat(1_024) });
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
});
