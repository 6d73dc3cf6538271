import { randomUUID } from "node:crypto";
import { createAlarm, every, inBackground, whileAvailable } from "../running/background.ts";
import { createPacer, type Pauses } from "../running/pacer.ts";
import {
  type Delivery,
  type DeliveryOptions,
  type DeliveryParts,
  startDelivery,
} from "./delivery.ts";
import type { Delivered, WebhookStore } from "./store.ts";

/**
 * All deliveries together take at most a third of the event loop's time, or a tenth while many changes
 * are committed, however many webhooks there are and however far they are behind.
 */
const deliveryPauses: Pauses = { idle: 2, busy: 9, countsWaits: false };

/** How long changes are gathered, so that a burst becomes one message. */
export const gatherMs = 50;

/** The shortest time between two saves, unless a delivery has failed. */
const saveEveryMs = 500;

/** How long a stop waits for a store that does not respond. */
const stopPatienceMs = 2_000;

/**
 * Delivers all webhooks whose lease this process has. With several processes on one database, each
 * webhook is delivered by one of them; another continues when the lease ends.
 */
export function startDeliveries(options: DeliveryOptions) {
  const { tail, log, monotonicMs, bounds } = options;
  const { webhooks } = options.store;
  const holder = randomUUID();
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = new Map<string, Delivery>();
  const saves = createSaves(webhooks, holder, running, monotonicMs);
  const rowsAdded = createAlarm();
  const gathered = createAlarm();
  let isClaimDue = true;
  // If a save fails, the timer repeats it, and logs if that fails too.
  const save = () => saves.save().catch(() => {});
  const parts: DeliveryParts = {
    ...options,
    pacer: createPacer(monotonicMs, () => tail.seq, deliveryPauses),
    signal,
    save,
    saveSoon() {
      if (monotonicMs() - saves.lastSavedAt() >= saveEveryMs) void save();
    },
    claimAgain() {
      isClaimDue = true;
    },
    onReleased: (id) => void running.delete(id),
  };

  async function claim(): Promise<void> {
    if (signal.aborted) return;
    const claimedAt = monotonicMs();
    const held = await webhooks.claimWebhooks(holder, bounds.leaseMs);
    isClaimDue = false;
    if (signal.aborted) return;
    for (const webhook of held) {
      const delivery = running.get(webhook.id) ?? startDelivery(webhook, parts);
      running.set(webhook.id, delivery);
      delivery.claimed(webhook, claimedAt, claimedAt + bounds.leaseMs);
    }
    const ids = new Set(held.map(({ id }) => id));
    for (const [id, delivery] of running) if (!ids.has(id)) delivery.release();
  }

  async function saveDue(): Promise<void> {
    if (isClaimDue) await saves.inTurn(claim);
    const now = monotonicMs();
    if ([...running.values()].some(({ saveAt }) => saveAt() <= now)) await saves.save();
  }

  async function announceRows(): Promise<void> {
    while (!signal.aborted) {
      await rowsAdded.wait(Infinity);
      await gathered.wait(gatherMs);
      for (const delivery of running.values()) delivery.rowsAdded();
    }
  }

  async function finish(): Promise<void> {
    await Promise.all([...running.values()].map(({ ended }) => ended));
    await save();
    await saves.inTurn(() => webhooks.releaseWebhooks(holder));
  }

  const claimNow = whileAvailable(() => saves.inTurn(claim));
  inBackground("claiming webhooks", log, claimNow)();
  const timers = [
    every(bounds.renewEveryMs, "claiming webhooks", log, claimNow),
    every(saveEveryMs, "saving the progress of webhooks", log, whileAvailable(saveDue)),
  ];
  tail.subscribe({
    rowsAdded: rowsAdded.wake,
    historyChanged() {
      for (const delivery of running.values()) delivery.historyChanged();
    },
  });
  void announceRows();

  return {
    /** Cuts off the attempts in flight, saves the progress and gives up the leases. */
    async stop(): Promise<void> {
      for (const stopTimer of timers) stopTimer();
      stopping.abort();
      for (const alarm of [rowsAdded, gathered, ...running.values()]) alarm.wake();
      // A lease that could not be given up ends by itself.
      const finished = finish().catch(() => {});
      await Promise.race([finished, createAlarm().wait(stopPatienceMs)]);
    },
  };
}

/** Saves the progress of all deliveries together. */
function createSaves(
  webhooks: WebhookStore,
  holder: string,
  running: ReadonlyMap<string, Delivery>,
  monotonicMs: () => number,
) {
  let lastUse: Promise<unknown> = Promise.resolve();
  let queuedSave: Promise<void> | undefined;
  let lastSavedAt = -Infinity;

  /** Uses the store after all earlier uses have ended, so that a claim returns what they saved. */
  function inTurn(use: () => Promise<void>): Promise<void> {
    const result = lastUse.then(use);
    lastUse = result.catch(() => {});
    return result;
  }

  async function saveAll(): Promise<void> {
    queuedSave = undefined;
    const taken = new Map<Delivered, Delivery>();
    for (const delivery of running.values()) {
      const unsaved = delivery.takeUnsaved();
      if (unsaved) taken.set(unsaved, delivery);
    }
    if (taken.size === 0) return;
    lastSavedAt = monotonicMs();
    try {
      const saved = new Set(await webhooks.saveDelivered(holder, [...taken.keys()]));
      for (const [delivered, delivery] of taken) delivery.saved(delivered, saved.has(delivered.id));
    } catch (error) {
      for (const [delivered, delivery] of taken) delivery.notSaved(delivered);
      throw error;
    }
  }

  return {
    inTurn,
    /** Calls that wait for the store share one save. */
    save(): Promise<void> {
      queuedSave ??= inTurn(saveAll);
      return queuedSave;
    },
    lastSavedAt: () => lastSavedAt,
  };
}
