import { formatCursor } from "../ledger/cursors.ts";
import { type EpochStart, lastCommonSeq, type Position } from "../ledger/epochs.ts";
import type { LedgerTail } from "../ledger/tail.ts";
import {
  createAlarm,
  createTaskCondition,
  failureDetails,
  isUnavailable,
} from "../running/background.ts";
import type { Clock, MaybePromise } from "../running/clock.ts";
import type { Log } from "../running/events.ts";
import { attemptOf, isSuccess, resultOf, type SendParts, sendMessage } from "./attempts.ts";
import { matcherOf } from "./filter.ts";
import type { Message } from "./message.ts";
import { endingOf, retryDelayMaxMs, retryDelayMs } from "./retries.ts";
import { type ScanParts, scanLedger } from "./scan.ts";
import type { WebhookAnswer } from "./sender.ts";
import type { Delivered } from "./store.ts";
import { createUnsaved } from "./unsaved.ts";
import type { Webhook, WebhookProgress } from "./webhook.ts";

/**
 * Delivers the changes of one webhook: one message at a time, in the order of the ledger. A message is
 * sent until it succeeds, so every change arrives at least once.
 */
export interface Delivery {
  /** Resolves when the webhook was released or the process stops, and no attempt is in flight. */
  readonly ended: Promise<void>;
  /** The webhook as it was just read. The times are those of the lease, by the monotonic clock. */
  claimed(webhook: Webhook, claimedAt: number, leaseEndsAt: number): void;
  /** This process must no longer deliver the webhook. An attempt in flight is completed. */
  release(): void;
  /** There are new rows. The caller has waited a moment, so that a burst becomes one message. */
  rowsAdded(): void;
  wake(): void;
  /** Checks that the ledger still has the rows that were delivered. */
  historyChanged(): void;
  /** When the progress has to be saved, by the monotonic clock; Infinity if all of it is saved. */
  readonly saveAt: number;
  /** Takes what has to be saved. The caller reports the result with `saved` or `notSaved`. */
  takeUnsaved(): Delivered | undefined;
  /** `isSaved` is false if the webhook was replayed or removed, or its lease was lost. */
  saved(delivered: Delivered, isSaved: boolean): void;
  /** The store did not respond. The next save includes the same attempts. */
  notSaved(delivered: Delivered): void;
}

export interface DeliveryParts extends ScanParts, SendParts {
  readonly tail: LedgerTail;
  readonly listEpochs: () => MaybePromise<readonly EpochStart[]>;
  readonly clock: Clock;
  /** Returns a number from 0 to less than 1. */
  readonly random: () => number;
  readonly log: Log;
  /** An attempt starts only while this much of the lease is left. */
  readonly leaseLeftMinMs: number;
  /** Saves the progress of all deliveries. Never rejects. */
  readonly save: () => Promise<void>;
  /** Saves at once, unless that was done a moment ago. The timer then saves later. */
  readonly saveSoon: () => void;
  /** Reads all webhooks of this process again, soon. */
  readonly claimAgain: () => void;
  /** Called when a delivery that was released has ended. */
  readonly onReleased: (id: string) => void;
}

/** How soon progress is saved after an attempt, and if no row was wanted. */
const saveSoonMs = 500;
const saveLateMs = 5_000;

/** The wait after a step that failed because of the store, or because of a bug. */
const faultDelayMs = 1_000;

/** A message, and where the delivery continues after it. */
interface Pending {
  readonly message: Message;
  readonly end: Position;
}

export function startDelivery(initial: Webhook, parts: DeliveryParts): Delivery {
  const { tail, clock, monotonicMs, log, signal } = parts;
  const { id, name } = initial;
  const matches = matcherOf(initial.filter);
  const alarm = createAlarm();
  const unsaved = createUnsaved(monotonicMs);
  const working = createTaskCondition(log, { task: "delivering a webhook", id, name });
  let webhook = initial;
  let progress: WebhookProgress = initial;
  let pending: Pending | undefined;
  let leaseEndsAt = 0;
  /** The next attempt, by the monotonic clock. */
  let retryAt = 0;
  /** True if there may be rows to send. A claim does not set it, because new rows are gathered first. */
  let hasRows = true;
  let isReleased = false;
  /** True until the progress has been read from the store. Nothing is sent before. */
  let isStale = true;
  /** True while the cursor is the one that was read. */
  let isCursorAsRead = true;
  /** True once the cursor is known to be part of the ledger. */
  let isLocated = false;
  /** Counts reads of the progress. Results of work that began before the last read are ignored. */
  let generation = 0;
  let ending: Delivered["ended"];

  /** Continues with the progress that was read. */
  function restart(read: Webhook): void {
    generation += 1;
    progress = read;
    const delayMs = read.nextAttemptAt - clock.now();
    // No delay is longer. If this one is, the clock was ahead when the time was stored.
    retryAt = monotonicMs() + (delayMs > retryDelayMaxMs ? 0 : delayMs);
    pending = undefined;
    ending = undefined;
    isStale = false;
    isCursorAsRead = true;
    isLocated = false;
    hasRows = true;
  }

  function readAgain(): void {
    isStale = true;
    unsaved.forget();
    parts.claimAgain();
  }

  /** Returns how long to wait before the next step. */
  async function step(): Promise<number> {
    if (isStale || ending) return Infinity;
    if (leaseEndsAt - monotonicMs() < parts.leaseLeftMinMs) return Infinity;
    const delayMs = untilAttempt();
    if (delayMs > 0) return delayMs;
    if (!isLocated) return locate();
    if (pending) return attempt(pending);
    return hasRows && progress.cursor.seq < tail.seq ? scan() : Infinity;
  }

  /** The system clock may jump, so the first clock that reaches the time of the next attempt counts. */
  function untilAttempt(): number {
    return Math.min(progress.nextAttemptAt - clock.now(), retryAt - monotonicMs());
  }

  /**
   * The cursor is stored with the ledger, so it is part of it, unless a failover lost rows that were
   * already delivered. The delivery then continues after the last row that was not lost.
   */
  async function locate(): Promise<number> {
    const { cursor } = progress;
    const began = generation;
    if (pending && !tail.includes(pending.end)) pending = undefined;
    // Every ledger has the position before its first row.
    isLocated = cursor.seq === 0 || tail.includes(cursor);
    if (isLocated) return 0;
    const { isReset } = await tail.locate(cursor);
    if (!isReset || generation !== began) return 0;
    if (!isCursorAsRead) {
      readAgain();
      return Infinity;
    }
    const seq = lastCommonSeq(await parts.listEpochs(), tail.seq, cursor);
    if (generation !== began) return 0;
    log("webhook continues after lost rows", { id, name, cursor: formatCursor(cursor), seq });
    moveTo(tail.positionAt(seq));
    return 0;
  }

  function moveTo(cursor: Position): void {
    progress = { ...progress, cursor };
    isCursorAsRead = false;
    unsaved.saveWithin(saveLateMs);
  }

  async function scan(): Promise<number> {
    const began = generation;
    const after = progress.cursor.seq;
    hasRows = false;
    const { message, upTo, isAtEnd } = await scanLedger(parts, webhook, matches, after);
    // If this is not so, the rows may be of another history.
    const isValid = generation === began && isLocated;
    hasRows ||= !isAtEnd || !isValid;
    if (!isValid) return 0;
    const end = tail.positionAt(upTo);
    if (message) pending = { message, end };
    else if (upTo > after) moveTo(end);
    return 0;
  }

  async function attempt({ message, end }: Pending): Promise<number> {
    const began = generation;
    const at = clock.now();
    const answer = await sendMessage(parts, webhook, message, at);
    // Cut off by this process: the receiver has not failed.
    if (!isSuccess(answer) && signal.aborted) return 0;
    unsaved.addAttempt(attemptOf(message, at, answer));
    unsaved.saveWithin(saveSoonMs);
    if (generation !== began) return 0;
    if (!isSuccess(answer)) return failed(answer);
    succeeded(end);
    parts.saveSoon();
    return 0;
  }

  function succeeded(cursor: Position): void {
    const { failures } = progress;
    progress = { cursor, failures: 0, failingSince: null, nextAttemptAt: 0 };
    isCursorAsRead = false;
    pending = undefined;
    if (failures > 0) log("webhook delivering again", { id, name, failures });
  }

  function failed(answer: WebhookAnswer): number {
    const now = clock.now();
    const failures = progress.failures + 1;
    const failingSince = Math.min(progress.failingSince ?? now, now);
    const delayMs = retryDelayMs(failures, answer.retryAfterMs, parts.random);
    progress = { ...progress, failures, failingSince, nextAttemptAt: now + delayMs };
    retryAt = monotonicMs() + delayMs;
    ending = endingOf(answer, failingSince, now);
    if (!ending && failures === 1) log("webhook failing", { id, name, result: resultOf(answer) });
    unsaved.saveWithin(0);
    void parts.save();
    return ending ? Infinity : delayMs;
  }

  function stepped(delayMs: number): number {
    working.succeeded();
    return delayMs;
  }

  function faulted(error: unknown): number {
    if (!isUnavailable(error)) working.failed(() => failureDetails(error));
    hasRows = true;
    return faultDelayMs;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const delayMs = await step().then(stepped, faulted);
      if (delayMs > 0 && !isReleased && !signal.aborted) await alarm.wait(delayMs);
      // The result of the last attempt is saved even if an operator has paused the webhook.
      if (isReleased && unsaved.saveAt < Infinity) await parts.save();
      if (isReleased) return parts.onReleased(id);
    }
  }

  return {
    claimed(read, claimedAt, endsAt) {
      // Another process may have delivered since the lease ended.
      const wasInterrupted = isReleased || claimedAt > leaseEndsAt;
      if (isStale || wasInterrupted || read.replays !== webhook.replays) restart(read);
      else if (read.version !== webhook.version) {
        // After an operator's change the next attempt is made at once.
        const { failures, failingSince } = read;
        progress = { ...progress, failures, failingSince, nextAttemptAt: 0 };
        ending = undefined;
      }
      webhook = read;
      leaseEndsAt = endsAt;
      isReleased = false;
      alarm.wake();
    },
    release() {
      isReleased = true;
      alarm.wake();
    },
    rowsAdded() {
      hasRows = true;
      alarm.wake();
    },
    wake: alarm.wake,
    historyChanged() {
      isLocated = false;
      hasRows = true;
      alarm.wake();
    },
    get saveAt() {
      return unsaved.saveAt;
    },
    takeUnsaved() {
      if (unsaved.saveAt === Infinity || isStale) return undefined;
      const { cursor, failures, failingSince, nextAttemptAt } = progress;
      return {
        id,
        replays: webhook.replays,
        progress: { cursor, failures, failingSince, nextAttemptAt },
        ended: ending,
        attempts: unsaved.take(),
      };
    },
    saved({ ended }, isSaved) {
      if (!isSaved) return readAgain();
      if (!ended || ended !== ending) return;
      const event = ended.state === "disabled" ? "webhook disabled" : "webhook paused";
      log(event, { id, name, reason: ended.reason });
      isReleased = true;
      alarm.wake();
    },
    notSaved: ({ attempts }) => unsaved.putBack(attempts),
    ended: run(),
  };
}
