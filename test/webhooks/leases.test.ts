import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHeadWatcher } from "../../src/domain/ledger/head.ts";
import { followTail, type LedgerTail } from "../../src/domain/ledger/tail.ts";
import { createPacer } from "../../src/domain/running/pacer.ts";
import { type Delivery, startDelivery } from "../../src/domain/webhooks/delivery.ts";
import type { Webhook } from "../../src/domain/webhooks/webhook.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { setUnit } from "../support/units.ts";
import { until } from "../support/until.ts";
import { createSender } from "../support/webhook-attempts.ts";
import { type Receiver, startReceiver } from "../support/webhooks/receiver.ts";
import { webhookNamed } from "../support/webhooks.ts";

const leaseMs = 30_000;
const leaseLeftMinMs = 20_000;

let stack: AsyncDisposableStack;
let service: TestService;
let tail: LedgerTail;
let stopping: AbortController;
/** The monotonic clock of the deliveries. */
let nowMs: number;
beforeEach(async () => {
  nowMs = 0;
  stack = new AsyncDisposableStack();
  service = await startTestService("sqlite");
  stack.defer(() => service.stop());
  const watcher = createHeadWatcher(service.store.inventory, () => {});
  stack.defer(() => watcher.stop());
  tail = await followTail(service.store, watcher, () => {});
  stack.defer(() => tail.stop());
  stopping = new AbortController();
  await service.addPets({ petId: 1n });
});
afterEach(() => stack.disposeAsync());

interface Delivering {
  readonly delivery: Delivery;
  readonly receiver: Receiver;
  readonly webhook: Webhook;
}

/** A delivery that has not claimed its webhook yet. The webhook has delivered all rows so far. */
async function startDelivering(id: string): Promise<Delivering> {
  const receiver = await startReceiver();
  stack.defer(() => receiver.stop());
  const { position: cursor } = await tail.locate();
  const webhook = webhookNamed(id, { url: receiver.url, cursor });
  const delivery = startDelivery(webhook, {
    tail,
    lowStockAt: undefined,
    store: service.store,
    clock: service.clock,
    monotonicMs: () => nowMs,
    random: () => 0,
    log: () => {},
    bounds: { leaseMs, leaseLeftMinMs, renewEveryMs: 5_000 },
    save: async () => {},
    saveSoon() {},
    claimAgain() {},
    onReleased() {},
    sender: createSender(),
    pacer: createPacer(
      () => performance.now(),
      () => tail.seq,
      { idle: 2, busy: 9, countsWaits: false },
    ),
    userAgent: "test",
    signal: stopping.signal,
  });
  stack.defer(async () => {
    stopping.abort();
    delivery.wake();
    await delivery.ended;
  });
  return { delivery, receiver, webhook };
}

/** Stores a change, and tells the deliveries of it. Returns its `seq`. */
async function change(quantity: number, ...all: readonly Delivering[]): Promise<number> {
  await service.store.inventory.commit([setUnit(1n, quantity)]);
  const { seq } = (await tail.locate()).position;
  for (const { delivery } of all) delivery.rowsAdded();
  return seq;
}

const confirms = ({ receiver }: Delivering, seq: number) =>
  until(() => receiver.confirmed.at(-1) === seq, 10_000, `change ${seq} is confirmed`);

test("a delivery whose lease had ended continues where another process has left it", async () => {
  const one = await startDelivering("wh_one");
  one.delivery.claimed(one.webhook, nowMs, nowMs + leaseMs);
  const first = await change(1, one);
  await confirms(one, first);
  nowMs += leaseMs + 1;
  // Another process has the lease now, and delivers this.
  await change(2, one);
  const { position: cursor } = await tail.locate();
  one.delivery.claimed({ ...one.webhook, cursor }, nowMs, nowMs + leaseMs);
  const last = await change(3, one);
  await confirms(one, last);
  expect(one.receiver.confirmed).toEqual([first, last]);
});

test("no attempt starts if it might last longer than the lease", async () => {
  const [one, other] = [await startDelivering("wh_one"), await startDelivering("wh_other")];
  one.delivery.claimed(one.webhook, nowMs, nowMs + leaseMs);
  nowMs += leaseMs - leaseLeftMinMs + 1;
  other.delivery.claimed(other.webhook, nowMs, nowMs + leaseMs);
  const first = await change(1, one, other);
  await confirms(other, first);
  const second = await change(2, one, other);
  await confirms(other, second);
  expect(one.receiver.received).toEqual([]);
  one.delivery.claimed(one.webhook, nowMs, nowMs + leaseMs);
  await confirms(one, second);
  expect(one.receiver.received.map(({ seqs }) => seqs)).toEqual([[first, second]]);
});
