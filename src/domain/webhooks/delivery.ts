import { formatCursor } from "../ledger/cursors.ts";
import { lastCommonSeq, type Position } from "../ledger/epochs.ts";
import type { LedgerParts } from "../ledger/store.ts";
import type { LedgerTail } from "../ledger/tail.ts";
import {
  type Alarm,
  createAlarm,
  createTaskCondition,
  failureDetails,
  isUnavailable,
} from "../running/background.ts";
import type { Clock } from "../running/clock.ts";
import type { Log } from "../running/events.ts";
import type { Pacer } from "../running/pacer.ts";
import { matcherOf, type ThresholdParts } from "./filter.ts";
import { attemptOf, headersOf, type Message, scanLedger } from "./message.ts";
import { endingOf, failingSinceAt, retryDelayMaxMs, retryDelayMs } from "./retries.ts";
import type { WebhookAnswer, WebhookSender } from "./sender.ts";
import { type DeliveryState, initialState, nextStep, type Step } from "./steps.ts";
import type { Delivered, WebhookStore } from "./store.ts";
import { attemptsKept, isConfirmed, resultOf, type Webhook } from "./webhook.ts";

export type Delivery = ReturnType<typeof startDelivery>;

type DeliveryStore = Pick<LedgerParts, "inventory"> &
  ThresholdParts["store"] & { readonly webhooks: WebhookStore };

export interface DeliveryOptions extends ThresholdParts {
  readonly store: DeliveryStore;
  readonly bounds: DeliveryBounds;
  readonly tail: LedgerTail;
  readonly sender: Pick<WebhookSender, "send">;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  /** Returns a number from 0 to less than 1. */
  readonly random: () => number;
  readonly log: Log;
  readonly userAgent: string;
}

export interface DeliveryBounds {
  /** How long a process that has died keeps its webhooks. */
  readonly leaseMs: number;
  /** An attempt starts only while this much of the lease is left, so that it ends before the lease. */
  readonly leaseLeftMinMs: number;
  /** How often leases are renewed, and the changes of operators are read. */
  readonly renewEveryMs: number;
}

export interface DeliveryParts extends DeliveryOptions {
  readonly pacer: Pacer;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
  /** Saves the progress of all deliveries. Never rejects. */
  readonly save: () => Promise<void>;
  /** Saves at once, unless that was done a moment ago. The timer then saves later. */
  readonly saveSoon: () => void;
  /** Reads all webhooks of this process again, soon. */
  readonly claimAgain: () => void;
  /** Called when a delivery that was released has ended. */
  readonly onReleased: (id: string) => void;
}

/** Roughly the time that the event loop will spend on handshake, request and response. */
const connectionMs = 1;

/** How soon progress is saved after an attempt, and if no row was wanted. */
const saveSoonMs = 500;
const saveLateMs = 5_000;

/** The wait after a step that failed because of the store, or because of a bug. */
const faultDelayMs = 1_000;

/** A delivery at work. */
interface Work {
  readonly parts: DeliveryParts;
  readonly state: DeliveryState;
  readonly matches: ReturnType<typeof matcherOf>;
  readonly alarm: Alarm;
}

/**
 * Delivers the changes of one webhook: one message at a time, in the order of the ledger. A message is
 * sent until it succeeds, so every change arrives at least once.
 */
export function startDelivery(initial: Webhook, parts: DeliveryParts) {
  const state = initialState(initial);
  const alarm = createAlarm();
  const work: Work = { parts, state, matches: matcherOf(initial.filter, parts), alarm };
  return {
    /** The webhook as it was just read. The times are those of the lease, by the monotonic clock. */
    claimed(read: Webhook, claimedAt: number, leaseEndsAt: number): void {
      takeClaim(work, read, claimedAt);
      state.leaseEndsAt = leaseEndsAt;
      alarm.wake();
    },
    /** This process must no longer deliver the webhook. An attempt in flight is completed. */
    release(): void {
      state.isReleased = true;
      alarm.wake();
    },
    /** There are new rows. The caller has waited a moment, so that a burst becomes one message. */
    rowsAdded(): void {
      state.hasRows = true;
      alarm.wake();
    },
    wake: alarm.wake,
    /** Checks that the ledger still has the rows that were delivered. */
    historyChanged(): void {
      state.isLocated = false;
      state.hasRows = true;
      alarm.wake();
    },
    /** When the progress has to be saved, by the monotonic clock; Infinity if all of it is saved. */
    saveAt: () => state.saveAt,
    /** Takes what has to be saved. The caller reports the result with `saved` or `notSaved`. */
    takeUnsaved: () => takeUnsaved(state),
    /** `isSaved` is false if the webhook was replayed or removed, or its lease was lost. */
    saved({ id, ended }: Delivered, isSaved: boolean) {
      if (!isSaved) return readAgain(work);
      if (!ended || ended !== state.ending) return;
      const event = ended.state === "disabled" ? "webhook disabled" : "webhook paused";
      parts.log(event, { id, name: initial.name, reason: ended.reason });
      state.isReleased = true;
      alarm.wake();
    },
    /** The store did not respond. The next save includes the same attempts. */
    notSaved({ attempts }: Delivered): void {
      state.attempts = [...attempts, ...state.attempts].slice(-attemptsKept);
      saveWithin(work, 0);
    },
    /** Resolves when the webhook was released or the process stops, and no attempt is in flight. */
    ended: run(work),
  };
}

async function run(work: Work): Promise<void> {
  const { parts, state, alarm } = work;
  const { id, name } = state.webhook;
  const working = createTaskCondition(parts.log, { task: "delivering a webhook", id, name });
  while (!parts.signal.aborted) {
    const step = nextStep(state, {
      now: parts.clock.now(),
      monotonicMs: parts.monotonicMs(),
      headSeq: parts.tail.seq,
      leaseLeftMinMs: parts.bounds.leaseLeftMinMs,
    });
    if (step === "leave") {
      // The result of the last attempt is saved even if an operator has paused the webhook.
      if (state.saveAt < Infinity) await parts.save();
      if (state.isReleased) return parts.onReleased(id);
      continue;
    }
    try {
      await perform(work, step);
      working.succeeded();
    } catch (error) {
      if (!isUnavailable(error)) working.failed(() => failureDetails(error));
      state.hasRows = true;
      await alarm.wait(faultDelayMs);
    }
  }
}

function perform(work: Work, step: Exclude<Step, "leave">): Promise<void> {
  if (step === "locate") return locate(work);
  if (step === "scan") return scan(work);
  if (step === "attempt") return attempt(work);
  return work.alarm.wait(step.waitMs);
}

function takeClaim({ parts, state }: Work, read: Webhook, claimedAt: number): void {
  // Another process may have delivered since the lease ended.
  const wasInterrupted = state.isReleased || claimedAt > state.leaseEndsAt;
  if (!state.begunWith || wasInterrupted || read.replays !== state.webhook.replays) {
    const now = parts.clock.now();
    const delayMs = read.nextAttemptAt - now;
    // Then the clock was ahead when the times were stored. `failingSince` follows a clock that jumps.
    const isWrong = delayMs > retryDelayMaxMs || (read.failingSince ?? now) > now;
    Object.assign(state, {
      ...initialState(read),
      begunWith: read,
      retryAt: parts.monotonicMs() + (isWrong ? 0 : delayMs),
      // Earlier attempts must still be saved.
      attempts: state.attempts,
      saveAt: state.saveAt,
    });
  } else if (read.version !== state.webhook.version) {
    // After an operator's change the next attempt is made at once.
    const { failures, failingSince } = read;
    state.progress = { ...state.progress, failures, failingSince, nextAttemptAt: 0 };
    state.ending = undefined;
  }
  state.webhook = read;
  state.isReleased = false;
}

/** Reads the webhook again. Keeps the attempts for the next save. */
function readAgain({ parts, state }: Work): void {
  state.begunWith = undefined;
  state.saveAt = Infinity;
  parts.claimAgain();
}

function takeUnsaved(state: DeliveryState): Delivered | undefined {
  if (state.saveAt === Infinity || !state.begunWith) return undefined;
  const { cursor, failures, failingSince, nextAttemptAt } = state.progress;
  const { attempts, webhook } = state;
  state.attempts = [];
  state.saveAt = Infinity;
  return {
    id: webhook.id,
    replays: webhook.replays,
    progress: { cursor, failures, failingSince, nextAttemptAt },
    ended: state.ending,
    attempts,
  };
}

function saveWithin({ parts, state }: Work, delayMs: number): void {
  state.saveAt = Math.min(state.saveAt, parts.monotonicMs() + delayMs);
}

/**
 * The cursor is stored with the ledger, so it is part of it, unless a failover lost rows that were
 * already delivered. The delivery then continues after the last row that was not lost.
 */
async function locate(work: Work): Promise<void> {
  const { parts, state } = work;
  const { tail } = parts;
  const { begunWith } = state;
  const { cursor } = state.progress;
  if (state.pending && !tail.includes(state.pending.end)) state.pending = undefined;
  // Every ledger has the position before its first row.
  state.isLocated = cursor.seq === 0 || tail.includes(cursor);
  if (state.isLocated) return;
  const { isReset } = await tail.locate(cursor);
  if (!isReset || state.begunWith !== begunWith) return;
  if (cursor !== begunWith?.cursor) return readAgain(work);
  const seq = lastCommonSeq(await parts.store.inventory.listEpochs(), tail.seq, cursor);
  if (state.begunWith !== begunWith) return;
  const { id, name } = state.webhook;
  parts.log("webhook continues after lost rows", { id, name, cursor: formatCursor(cursor), seq });
  moveTo(work, tail.positionAt(seq));
}

function moveTo(work: Work, cursor: Position): void {
  work.state.progress = { ...work.state.progress, cursor };
  saveWithin(work, saveLateMs);
}

async function scan(work: Work): Promise<void> {
  const { parts, state, matches } = work;
  const { begunWith, webhook } = state;
  const after = state.progress.cursor.seq;
  state.hasRows = false;
  const { message, upTo, isAtEnd } = await scanLedger(parts, webhook, matches, after);
  // Otherwise the rows may belong to another history.
  const isValid = state.begunWith === begunWith && state.isLocated;
  state.hasRows ||= !isAtEnd || !isValid;
  if (!isValid) return;
  const end = parts.tail.positionAt(upTo);
  if (message) state.pending = { message, end };
  else if (upTo > after) moveTo(work, end);
}

async function attempt(work: Work): Promise<void> {
  const { parts, state } = work;
  const { begunWith, webhook } = state;
  const { message, end } = state.pending!;
  const at = parts.clock.now();
  const answer = await send(parts, webhook, message, at);
  // This process has aborted the attempt. The receiver has not failed.
  if (!isConfirmed(answer) && parts.signal.aborted) return;
  state.attempts = [...state.attempts, attemptOf(message, at, answer)].slice(-attemptsKept);
  saveWithin(work, saveSoonMs);
  if (state.begunWith !== begunWith) return;
  if (isConfirmed(answer)) succeeded(work, end);
  else failed(work, answer);
}

function send(
  { sender, pacer, monotonicMs, userAgent, signal }: DeliveryParts,
  webhook: Webhook,
  message: Message,
  now: number,
): Promise<WebhookAnswer> {
  const startedAt = monotonicMs();
  const headers = headersOf(message, webhook, now, userAgent);
  const answer = sender.send({ url: webhook.url, headers, body: message.body }, signal);
  pacer.spend(monotonicMs() - startedAt + connectionMs);
  return answer;
}

function succeeded({ parts, state }: Work, cursor: Position): void {
  const { failures } = state.progress;
  const { id, name } = state.webhook;
  state.progress = { cursor, failures: 0, failingSince: null, nextAttemptAt: 0 };
  state.pending = undefined;
  if (failures > 0) parts.log("webhook delivering again", { id, name, failures });
  parts.saveSoon();
}

function failed(work: Work, answer: WebhookAnswer): void {
  const { parts, state } = work;
  const { id, name } = state.webhook;
  const now = parts.clock.now();
  const failures = state.progress.failures + 1;
  const failingSince = failingSinceAt(state.progress, now);
  const delayMs = retryDelayMs(failures, answer.retryAfterMs, parts.random);
  state.progress = { ...state.progress, failures, failingSince, nextAttemptAt: now + delayMs };
  state.retryAt = parts.monotonicMs() + delayMs;
  state.ending = endingOf(answer, failingSince, now);
  if (!state.ending && failures === 1) {
    parts.log("webhook failing", { id, name, result: resultOf(answer) });
  }
  saveWithin(work, 0);
  void parts.save();
}
