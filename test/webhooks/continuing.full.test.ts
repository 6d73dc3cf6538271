import { afterEach, beforeEach, expect, test } from "bun:test";
import { createTestClock } from "../support/clock.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { createStore } from "../support/stocking.ts";
import { until } from "../support/until.ts";
import { type Receiver, startReceiver } from "../support/webhooks/receiver.ts";
import { range, startWebhookService } from "../support/webhooks/service.ts";

const patienceMs = 10_000;
const flags = ["--webhooks-allow-insecure", "--webhooks-allowed-networks", "127.0.0.0/8"];
let receiver: Receiver;
let place: Workspace;
beforeEach(() => {
  place = openWorkspace();
});
afterEach(async () => {
  await receiver.stop();
  await place.leave();
});

async function killed(database: readonly string[]) {
  const service = await place.serve(["serve", ...flags, ...database]);
  return {
    service,
    async kill() {
      service.kill("SIGKILL");
      await service.exited;
    },
  };
}

test("a service that is killed again and again sends every change at least once, in order", async () => {
  receiver = await startReceiver((response) => void setTimeout(() => response.end(), 20));
  await createStore(`sqlite:${place.path("data/production.db")}`);
  const created = await place.runHere(["webhooks", "create", ...flags, "--url", receiver.url]);
  expect(created).toMatchObject({ code: 0 });
  const count = 1_000;
  const pets = range(1, count).map((petId) => JSON.stringify({ petId, name: "Rex", quantity: 1 }));
  const imported = await place.runHere(["pets", "import", "-"], { stdin: pets.join("\n") });
  expect(imported).toMatchObject({ code: 0 });
  let starts = 0;
  const isComplete = () => receiver.confirmed.at(-1) === count;
  for (; !isComplete(); starts++) {
    // Each start sends more messages than the one before it, of 100 changes each.
    const enough = receiver.received.length + 1 + 3 * starts;
    const { kill } = await killed([]);
    const isEnough = () => receiver.received.length >= enough || isComplete();
    await until(isEnough, patienceMs, `${enough} messages arrive`);
    // Killed before a message is confirmed, and the next time right after.
    const { length } = receiver.confirmed;
    const isLater = () => receiver.confirmed.length > length || isComplete();
    if (starts % 2 === 1) await until(isLater, patienceMs, "a message is confirmed");
    await kill();
  }
  let next = 1;
  for (const seq of receiver.received.flatMap(({ seqs }) => seqs)) {
    // A start may repeat what the one before it sent, and never leaves anything out.
    expect(seq).toBeLessThanOrEqual(next);
    if (seq === next) next += 1;
  }
  expect(starts).toBeGreaterThan(2);
});

test("of two instances one delivers, and the other continues when it is killed", async () => {
  receiver = await startReceiver();
  const before = await startWebhookService("postgres");
  const { id } = await before.create({ url: receiver.url });
  const { databaseUrl: database } = before;
  await before.stop();
  const first = await killed(["--database", database]);
  // The second instance reads the leases of the first by this clock.
  const clock = createTestClock(Date.now());
  const second = await startWebhookService("postgres", {}, { database, clock });
  const start = await second.change(1);
  await second.becomes(async () => {
    await second.change(1);
    return receiver.received.length >= 5;
  });
  const last = await second.change(2);
  await second.becomes(() => receiver.confirmed.at(-1) === last);
  expect(receiver.confirmed).toEqual(range(start, last));
  await first.kill();
  const later = await second.change(3, 4);
  // The first has renewed its lease by the system's clock.
  clock.set(Date.now() + 31_000);
  await second.becomes(() => receiver.confirmed.at(-1) === later);
  // The first may not have saved its last message.
  expect([...new Set(receiver.confirmed)]).toEqual(range(start, later));
  expect((await second.find(id)).state).toBe("active");
  await second.stop();
});
