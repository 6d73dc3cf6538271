import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readLimitUpdate, readRetryAfterSeconds } from "../../client/src/limits.ts";
import { type Permit, WindowTracker } from "../../client/src/window.ts";
import { readConfig } from "../../src/config.ts";
import { newUsage, take } from "../../src/domain/limits.ts";
import { createSheet, stamp } from "../../src/http/headers.ts";

interface Flight {
  readonly permit: Permit;
  readonly countedAtMs: number;
  readonly answeredAtMs: number;
  headers?: Headers;
}

const { ban } = readConfig({}, {});

/**
 * Plays a queue of requests with given delays against the service's own rules; time jumps to the
 * next event. Gives how many were refused.
 */
function play(perMinute: number, delays: readonly (readonly [number, number])[]): number {
  const limits = { perMinute, perDay: 1_000_000 };
  const usage = newUsage();
  let refused = 0;
  const tracker = new WindowTracker(16);
  const waiting = [...delays];
  const flights = new Set<Flight>();
  let nowMs = 50_000;
  while (waiting.length > 0 || flights.size > 0) {
    const decision = tracker.decide(nowMs);
    const next = decision.kind === "go" ? waiting.shift() : undefined;
    if (next !== undefined) {
      const countedAtMs = nowMs + next[0];
      const permit = tracker.recordSent(nowMs);
      flights.add({ permit, countedAtMs, answeredAtMs: countedAtMs + next[1] });
      continue;
    }
    const moments = [...flights].map((flight) =>
      flight.headers === undefined ? flight.countedAtMs : flight.answeredAtMs,
    );
    if (waiting.length > 0 && decision.kind !== "go") moments.push(decision.untilMs);
    nowMs = Math.max(nowMs, Math.min(...moments));
    for (const flight of flights) {
      if (flight.headers === undefined && flight.countedAtMs <= nowMs) {
        const verdict = take(usage, limits, ban, nowMs);
        if (verdict.outcome !== "admitted") refused++;
        flight.headers = stamp(createSheet({}), verdict, "");
      } else if (flight.headers !== undefined && flight.answeredAtMs <= nowMs) {
        flights.delete(flight);
        const update = readLimitUpdate(flight.headers, nowMs);
        if (update !== undefined) tracker.recordUpdate(flight.permit, update, nowMs);
      }
    }
  }
  return refused;
}

describe("what the client knows of a window", () => {
  test("is enough for a lone client never to be refused while answers overtake each other", () => {
    const delay = fc.tuple(fc.nat(2400), fc.nat(2400));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(delay, { minLength: 1, maxLength: 150 }),
        (perMinute, delays) => {
          expect(play(perMinute, delays)).toBe(0);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("lets a single request go first, and a burst only after its answer", () => {
    const tracker = new WindowTracker(16);
    const permit = tracker.recordSent(0);
    expect(tracker.decide(0)).toEqual({ kind: "wait", untilMs: 5000 });
    tracker.recordUpdate(permit, update(5, 60), 10);
    expect(burst(tracker, 10)).toBe(5);
  });

  test("does not vouch for a burst when the last answer is older than a second", () => {
    const tracker = new WindowTracker(16);
    tracker.recordUpdate(tracker.recordSent(0), update(50, 60), 0);
    expect(burst(tracker, 1500)).toBe(1);
  });

  test("never has more than parallelMax on the way", () => {
    const tracker = new WindowTracker(4);
    tracker.recordUpdate(tracker.recordSent(0), update(50, 60), 0);
    expect(burst(tracker, 0)).toBe(4);
  });

  test("counts a request without an answer as possibly taken, until an answer tells", () => {
    const tracker = new WindowTracker(16);
    tracker.recordUpdate(tracker.recordSent(0), update(3, 60), 0);
    tracker.recordSent(0);
    tracker.recordLost();
    expect(burst(tracker, 0)).toBe(2);
  });

  test("a request that hangs does not hold up the others for longer than five seconds", () => {
    const tracker = new WindowTracker(16);
    tracker.recordSent(0);
    expect(tracker.decide(4999).kind).toBe("wait");
    expect(tracker.decide(5000).kind).toBe("go");
  });

  test("requests that hang keep their place in the window until it ends", () => {
    const tracker = new WindowTracker(16);
    tracker.recordUpdate(tracker.recordSent(0), update(2, 60), 0);
    expect(burst(tracker, 0)).toBe(2);
    expect(tracker.decide(59_999)).toEqual({ kind: "wait", untilMs: 60_000 });
    expect(tracker.decide(60_000).kind).toBe("go");
  });

  test("a raised limit is believed when the answer is to a later request", () => {
    const tracker = new WindowTracker(16);
    const early = tracker.recordSent(0);
    tracker.recordUpdate(tracker.recordSent(0), update(1, 60), 0);
    tracker.recordUpdate(early, update(9, 60), 0);
    expect(tracker.decide(0).kind).toBe("go");
    const later = tracker.recordSent(0);
    expect(tracker.decide(0).kind).toBe("wait");
    tracker.recordUpdate(later, update(300, 60), 0);
    expect(burst(tracker, 0)).toBe(16);
  });
});

describe("the limit headers", () => {
  const trio = {
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "9",
    "x-ratelimit-reset": "160",
  };
  const endsInMs = (extra: Record<string, string>) =>
    readLimitUpdate(new Headers({ ...trio, ...extra }), 90_000)?.endsInMs;

  test("give the time to the reset from RateLimit, then Date, then the own clock", () => {
    const date = new Date(150_000).toUTCString();
    const ratelimit = '"minute";r=9;t=12, "day";r=900;t=4000';
    expect(endsInMs({ ratelimit, date })).toBe(12_000);
    expect(endsInMs({ date })).toBe(10_000);
    expect(endsInMs({})).toBe(70_000);
    expect(endsInMs({ ratelimit: '"minute";r=9;t=12, "day";r=9;t=4000' })).toBe(4_000_000);
  });

  test("teach nothing when one is missing or no number", () => {
    expect(readLimitUpdate(new Headers(), 0)).toBeUndefined();
    expect(
      readLimitUpdate(new Headers({ ...trio, "x-ratelimit-remaining": "many" }), 0),
    ).toBeUndefined();
  });

  test("Retry-After is read in both of its forms", () => {
    const read = (value: string) => readRetryAfterSeconds(new Headers({ "retry-after": value }), 0);
    expect(read("120")).toBe(120);
    expect(read(new Date(5000).toUTCString())).toBe(5);
    expect(read("soon")).toBeUndefined();
    expect(readRetryAfterSeconds(new Headers(), 0)).toBeUndefined();
  });
});

function update(remaining: number, endsInSeconds: number) {
  return { limit: 60, remaining, resetsAt: new Date(60_000), endsInMs: endsInSeconds * 1000 };
}

/** How many requests may leave at that moment. */
function burst(tracker: WindowTracker, nowMs: number): number {
  let count = 0;
  while (tracker.decide(nowMs).kind === "go") {
    tracker.recordSent(nowMs);
    count++;
  }
  return count;
}
