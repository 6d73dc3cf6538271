// Webhooks that one to three instances deliver to receivers that are slow, fail and lose answers.

import { createHeadWatcher } from "../../src/domain/ledger/head.ts";
import type { HistoryReader } from "../../src/domain/ledger/store.ts";
import { followTail } from "../../src/domain/ledger/tail.ts";
import { monotonicMs } from "../../src/domain/running/background.ts";
import { ServiceError } from "../../src/domain/running/errors.ts";
import { startDeliveries } from "../../src/domain/webhooks/deliveries.ts";
import type { WebhookAnswer, WebhookRequest } from "../../src/domain/webhooks/sender.ts";
import type { WebhookStore } from "../../src/domain/webhooks/store.ts";
import type { Webhook } from "../../src/domain/webhooks/webhook.ts";
import { setUnit } from "../../test/support/units.ts";
import { webhookNamed } from "../../test/support/webhooks.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { never, type Process } from "./process.ts";
import type { World } from "./time.ts";
import { createWebhooks } from "./webhooks.ts";

const pets = 5;
const bounds = { leaseMs: 30_000, leaseLeftMinMs: 20_000, renewEveryMs: 5_000 };
/** The longest time of an attempt. */
const attemptMs = 15_000;
const clock = { now: () => Date.now(), elapsedMs: () => performance.now() };
const cursor = { epoch: "epoch-0", seq: 0 };

type Webhooks = ReturnType<typeof createWebhooks>;
/** A receiver whose last attempts failed. */
interface Failing {
  readonly process: Process;
  /** When they failed, by `performance.now()`, and until when the service was asked to wait. */
  readonly times: readonly number[];
  readonly waitUntil: number;
}

/** So many failures in a row within ten seconds mean that the service does not wait between them. */
const failuresMax = 8;

type Receivers = ReturnType<typeof createReceivers>;

export async function delivering(world: World): Promise<void> {
  const { random } = world;
  const isEmbedded = random.chance(0.2);
  const filter = { pets: [1n, 2n], statuses: null, causes: null, below: null, becomesLow: false };
  const all = [
    webhookNamed("all", { cursor }),
    webhookNamed("some", { cursor, filter }),
    webhookNamed("other", { cursor }),
  ].slice(0, 1 + random.below(3));
  const ledger = createLedger(world, isEmbedded, pets, () => {});
  const webhooks = createWebhooks(world, isEmbedded, all);
  const receivers = createReceivers(world, ledger, webhooks);
  const count = isEmbedded ? 1 : 1 + random.below(3);
  const start = () => startInstance(world, ledger, webhooks, receivers);
  const instances = await Promise.all(Array.from({ length: count }, start));

  async function replace(at: number): Promise<void> {
    const instance = instances[at]!;
    world.record(`replace ${at}`);
    if (random.chance(0.3)) await instance.stop();
    instance.crash();
    instances[at] = await start();
  }

  async function pause(id: string): Promise<void> {
    webhooks.change(id, { state: "paused" });
    await world.sleep(random.below(20_000));
    webhooks.change(id, { state: "active", failures: 0, failingSince: null, nextAttemptAt: 0 });
  }

  for (let bursts = 10 + random.below(15); bursts > 0; bursts--) {
    const sent = Array.from({ length: 1 + random.below(12) }, () =>
      random.pick(instances).write(BigInt(1 + random.below(pets)), random.below(100)),
    );
    await Promise.all(sent);
    await world.delay(random.pick([20, 600, 4_000, 15_000]), 0.03, 40_000);
    const at = random.below(count);
    if (world.breaks(0.06)) await replace(at);
    if (world.breaks(0.1))
      instances[at]!.process.isCutUntil = performance.now() + random.below(60_000);
    if (world.breaks(0.04)) receivers.breakDown(random.below(60_000));
    if (world.breaks(0.02)) await pause(random.pick(all).id);
  }
  world.calm();
  await receivers.completed(all);
}

/** The parts of a service that deliver, composed as in the service. */
async function startInstance(
  world: World,
  ledger: Ledger,
  webhooks: Webhooks,
  receivers: Receivers,
) {
  const process: Process = { isAlive: true };
  ledger.begin();
  const inventory = ledger.connect(process);
  const { log } = world;
  const head = createHeadWatcher(inventory, log);
  const tail = await followTail(
    { inventory, history: inventory as unknown as HistoryReader },
    head,
    log,
  );
  const deliveries = startDeliveries({
    store: {
      inventory,
      webhooks: webhooks.connect(process) as WebhookStore,
      catalogue: { namesOf: () => [] },
    },
    bounds,
    tail,
    lowStockAt: undefined,
    sender: { send: (request, signal) => receivers.receive(process, request, signal) },
    clock,
    monotonicMs,
    random: world.random.fraction,
    log,
    userAgent: "simulation",
  });
  return {
    process,
    crash() {
      process.isAlive = false;
      head.stop();
      tail.stop();
    },
    stop: deliveries.stop,
    async write(petId: bigint, quantity: number): Promise<void> {
      if (!process.isAlive) return;
      try {
        const { rows, epoch } = await inventory.commit([setUnit(petId, quantity)]);
        world.acknowledged();
        if (rows.length > 0) head.committed(rows, epoch);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
      }
    },
  };
}

function createReceivers(world: World, ledger: Ledger, webhooks: Webhooks) {
  const { fail } = world;
  /** The last change that each receiver has. */
  const received = new Map<string, number>();
  /** The process that sends to a receiver. */
  const underWay = new Map<string, Process>();
  const bodies = new Map<string, string>();
  let isDownUntil = 0;

  /** The rows after one that a webhook wants. */
  function wanted({ filter }: Webhook, after: number): readonly number[] {
    return ledger.rows
      .slice(after)
      .flatMap(({ seq, petId }) =>
        filter.pets === null || filter.pets.includes(petId) ? seq : [],
      );
  }

  /** After an operator's change, which the process learns later, the next attempt is made at once. */
  const isChanged = (id: string) =>
    performance.now() - webhooks.changedAt(id) < 2 * bounds.renewEveryMs;
  const waits = createWaits(world, isChanged);

  function check(
    process: Process,
    webhook: Webhook,
    { headers, body }: WebhookRequest,
  ): readonly number[] {
    const { id } = webhook;
    const messageId = headers["webhook-id"]!;
    const changes: { seq: number }[] = JSON.parse(body).data.changes;
    const seqs = changes.map(({ seq }) => seq);
    const [first] = seqs;
    world.record(`${id} is sent ${first} to ${seqs.at(-1)}`);
    const missed = wanted(webhook, received.get(id) ?? 0)[0];
    if (missed !== undefined && missed < first!)
      fail("lost", `${id} is sent row ${first}, but has not received row ${missed}`);
    if (String(seqs) !== String(wanted(webhook, first! - 1).slice(0, seqs.length)))
      fail("wrong", `${id} is sent rows ${seqs}`);
    if (first! <= webhook.cursor.seq)
      fail("doubled", `${id} is sent row ${first}, but ${webhook.cursor.seq} is saved`);
    if (underWay.get(id)?.isAlive) fail("wrong", `${id} has two attempts at the same time`);
    if ((bodies.get(messageId) ?? body) !== body) fail("wrong", `${messageId} has another body`);
    bodies.set(messageId, body);
    const earlyMs = webhook.nextAttemptAt - Date.now();
    // A process that was cut off may have read the webhook before its own save.
    if (earlyMs > 2 && !isChanged(id) && process.isCutUntil === undefined)
      fail("wrong", `${id} is tried again ${earlyMs} ms too early`);
    return seqs;
  }

  async function receive(
    process: Process,
    request: WebhookRequest,
    signal: AbortSignal,
  ): Promise<WebhookAnswer> {
    if (!process.isAlive) return never;
    const webhook = webhooks.find(new URL(request.url).pathname.slice(1));
    const seqs = check(process, webhook, request);
    waits.check(process, webhook.id);
    underWay.set(webhook.id, process);
    const aborted = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => aborted.resolve());
    await Promise.race([world.delay(30, 0.05, attemptMs), aborted.promise]);
    if (underWay.get(webhook.id) === process) underWay.delete(webhook.id);
    if (performance.now() < isDownUntil || world.breaks(0.1)) {
      return waits.failed(process, webhook.id);
    }
    waits.succeeded(webhook.id);
    received.set(webhook.id, Math.max(received.get(webhook.id) ?? 0, seqs.at(-1)!));
    if (!process.isAlive) return never;
    // The receiver has the changes, but the service does not know it.
    return signal.aborted || world.breaks(0.05) ? answer(null) : answer(204);
  }

  return {
    receive,
    breakDown(ms: number): void {
      isDownUntil = performance.now() + ms;
    },
    /** Without faults, every webhook receives everything, and this is saved. */
    async completed(all: readonly Webhook[]): Promise<void> {
      const last = (id: string) => received.get(id) ?? 0;
      const isComplete = (one: Webhook) =>
        wanted(one, last(one.id)).length === 0 && webhooks.find(one.id).cursor.seq >= last(one.id);
      for (let waits = 0; waits < 1_000 && !all.every(isComplete); waits++)
        await world.sleep(5_000);
      for (const one of all.filter((each) => !isComplete(each))) {
        const { seq } = webhooks.find(one.id).cursor;
        fail("lost", `${one.id} received row ${last(one.id)}, and has row ${seq} saved`);
      }
    },
  };
}

/** Checks that the service waits between attempts that fail. */
function createWaits({ random, fail }: World, isChanged: (id: string) => boolean) {
  const failing = new Map<string, Failing>();

  function failed(process: Process, id: string): WebhookAnswer {
    const now = performance.now();
    const retryAfterMs = random.pick([null, null, 10_000]);
    const times = [...(failing.get(id)?.times ?? []), now].slice(-failuresMax);
    failing.set(id, { process, times, waitUntil: now + (retryAfterMs ?? 0) });
    if (times.length === failuresMax && now - times[0]! < 10_000)
      fail("wrong", `${id} failed ${failuresMax} times within ${now - times[0]!} ms`);
    return answer(random.pick([500, 404, null]), retryAfterMs);
  }

  /** A process that can save that it has to wait, waits. */
  function check(process: Process, id: string): void {
    const { process: other, waitUntil = 0 } = failing.get(id) ?? {};
    const isExcused = (process.isCutUntil ?? 0) > waitUntil - attemptMs || isChanged(id);
    if (process === other && !isExcused && performance.now() < waitUntil - 2)
      fail("wrong", `${id} is tried again before the time that its receiver asked for`);
  }

  return { failed, check, succeeded: (id: string) => void failing.delete(id) };
}

function answer(status: number | null, retryAfterMs: number | null = null): WebhookAnswer {
  const error = status === null ? "no response" : null;
  return { status, error, retryAfterMs, durationMs: 1, text: "" };
}
