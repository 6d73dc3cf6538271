import type { Lesson } from "./limits.js";

/**
 * Whether a request may leave now. `wait` ends at a time or with the next answer, whichever comes
 * first; `closed` is known to last until its time, for the reason that its status names.
 */
export type Verdict =
  | { readonly kind: "go" }
  | { readonly kind: "wait"; readonly untilMs: number }
  | { readonly kind: "closed"; readonly untilMs: number; readonly status: 429 | 503 };

/** One request that left, by its place in the order of everything sent and learnt. */
export interface Permit {
  readonly place: number;
}

interface Known {
  remaining: number;
  endsAtMs: number;
  resetMs: number;
  learntAtMs: number;
  place: number;
}

/**
 * How long an answer vouches for a burst. The service forgives refusals for one second after the
 * first of a window: a burst within a second of an admitted answer cannot strike, even when another
 * program with the same key has just used up the window.
 */
const freshMs = 1000;

/**
 * The pace while nothing vouches for more: the next request leaves when the last is answered or is
 * this old, so that one that hangs does not hold up the rest. Twelve a minute stay below the twenty
 * refusals that ban a key, even if each of them were one.
 */
const probeMs = 5000;

/** The pause after a 429 that does not say how long: the least that `Retry-After` can say. */
const unspecifiedRestMs = 1000;

const beforeAllMs = Number.NEGATIVE_INFINITY;

/**
 * What this client knows of the key's rate limit, from the answers alone. The promise: requests of
 * this client never outnumber what the service said is left. Each answer names what was left when
 * it was counted; requests counted later are either answered, with a lower number, or in flight.
 * So the lowest number seen, less the requests in flight, is always still there to take.
 */
export class WindowKnowledge {
  readonly #parallelMax: number;
  #known: Known | undefined;
  #pause: { untilMs: number; status: 429 | 503 } = { untilMs: beforeAllMs, status: 429 };
  #lastSentAtMs = beforeAllMs;
  #place = 0;
  #inFlight = 0;
  /** Requests that ended without an answer since the last sure lesson; each may have been counted. */
  #lost = 0;

  constructor(parallelMax: number) {
    this.#parallelMax = parallelMax;
  }

  judge(nowMs: number): Verdict {
    if (nowMs < this.#pause.untilMs) return { kind: "closed", ...this.#pause };
    if (this.#known !== undefined && nowMs >= this.#known.endsAtMs) this.#known = undefined;
    const known = this.#known;
    if (known?.remaining === 0) return { kind: "closed", untilMs: known.endsAtMs, status: 429 };
    if (this.#inFlight === 0) return { kind: "go" };
    if (this.#inFlight >= this.#parallelMax) {
      return { kind: "wait", untilMs: Number.POSITIVE_INFINITY };
    }
    if (known !== undefined && this.#inFlight >= known.remaining) {
      return { kind: "wait", untilMs: known.endsAtMs };
    }
    return this.#judgeCompany(known, nowMs);
  }

  /** Others are in flight: join them on fresh knowledge, or else as a probe. */
  #judgeCompany(known: Known | undefined, nowMs: number): Verdict {
    const isFresh = known !== undefined && nowMs - known.learntAtMs <= freshMs;
    if (isFresh && this.#inFlight + this.#lost < known.remaining) return { kind: "go" };
    const probeAtMs = this.#lastSentAtMs + probeMs;
    return nowMs >= probeAtMs ? { kind: "go" } : { kind: "wait", untilMs: probeAtMs };
  }

  sent(nowMs: number): Permit {
    this.#inFlight++;
    this.#lastSentAtMs = nowMs;
    return { place: ++this.#place };
  }

  /** The request ended without an answer, or with one that says nothing of limits. */
  lost(): void {
    this.#inFlight--;
    this.#lost++;
  }

  learn(permit: Permit, lesson: Lesson, nowMs: number): void {
    this.#inFlight--;
    const learnt: Known = {
      remaining: lesson.remaining,
      endsAtMs: nowMs + lesson.endsInMs,
      resetMs: lesson.resetsAt.getTime(),
      learntAtMs: nowMs,
      place: ++this.#place,
    };
    const known = this.#known;
    // A request sent after the last lesson was counted after it: its answer replaces what was
    // known, also with a higher number (another plan, a limit raised, an operator's pardon).
    if (known === undefined || permit.place > known.place) {
      this.#lost = 0;
      this.#known = learnt;
    } else if (learnt.resetMs === known.resetMs) {
      learnt.remaining = Math.min(learnt.remaining, known.remaining);
      learnt.endsAtMs = Math.min(learnt.endsAtMs, known.endsAtMs);
      this.#known = learnt;
    } else if (learnt.resetMs > known.resetMs) {
      this.#known = learnt;
    }
  }

  /** The service asked every call to rest, by `Retry-After` on a 429 or a 503. */
  rest(status: 429 | 503, retryAfterMs: number | undefined, nowMs: number): void {
    const untilMs = nowMs + (retryAfterMs ?? unspecifiedRestMs);
    if (untilMs > this.#pause.untilMs) this.#pause = { untilMs, status };
    // A window used up ends with the wait that was asked for, whatever the two clocks say.
    if (status === 429 && retryAfterMs !== undefined && this.#known?.remaining === 0) {
      this.#known.endsAtMs = untilMs;
    }
  }
}
