import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readLimitUpdate, readRetryAfterSeconds } from "../../client/src/limits.ts";
import { type Permit, WindowTracker } from "../../client/src/window.ts";
import { readConfig } from "../../src/config.ts";
import { newUsage, take } from "../../src/domain/limits/limits.ts";
import { createTemplate, fillTemplate } from "../../src/http/messages/headers.ts";

interface SimulatedRequest {
  readonly permit: Permit;
  readonly countedAtMs: number;
  readonly respondedAtMs: number;
  headers?: Headers;
}

const { ban } = readConfig({}, {});

/**
 * Simulates a queue of requests against the limits of the service. Each request has a delay until it
 * is counted and a delay until its response arrives. Returns the number of 429 responses.
 */
function simulate(perMinute: number, delays: readonly (readonly [number, number])[]): number {
  const limits = { perMinute, perDay: 1_000_000 };
  const usage = newUsage();
  let rejected = 0;
  const tracker = new WindowTracker(16);
  const queued = [...delays];
  const inFlight = new Set<SimulatedRequest>();
  let nowMs = 50_000;
  while (queued.length > 0 || inFlight.size > 0) {
    const decision = tracker.decide(nowMs);
    const next = decision.kind === "go" ? queued.shift() : undefined;
    if (next !== undefined) {
      const countedAtMs = nowMs + next[0];
      const permit = tracker.recordSent(nowMs);
      inFlight.add({ permit, countedAtMs, respondedAtMs: countedAtMs + next[1] });
      continue;
    }
    const events = [...inFlight].map((request) =>
      request.headers === undefined ? request.countedAtMs : request.respondedAtMs,
    );
    if (queued.length > 0 && decision.kind !== "go") events.push(decision.untilMs);
    nowMs = Math.max(nowMs, Math.min(...events));
    for (const request of inFlight) {
      if (request.headers === undefined && request.countedAtMs <= nowMs) {
        const decision = take(usage, limits, ban, nowMs);
        if (decision.outcome !== "admitted") rejected++;
        request.headers = fillTemplate(createTemplate({}), decision, "");
      } else if (request.headers !== undefined && request.respondedAtMs <= nowMs) {
        inFlight.delete(request);
        const update = readLimitUpdate(request.headers, nowMs);
        if (update !== undefined) tracker.recordUpdate(request.permit, update, nowMs);
      }
    }
  }
  return rejected;
}

describe("the window tracker", () => {
  test("never causes a 429 for a single client, even if responses arrive out of order", () => {
    const delay = fc.tuple(fc.nat(2400), fc.nat(2400));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(delay, { minLength: 1, maxLength: 150 }),
        (perMinute, delays) => {
          expect(simulate(perMinute, delays)).toBe(0);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("allows a single request first, and a burst only after its response", () => {
    const tracker = new WindowTracker(16);
    const permit = tracker.recordSent(0);
    expect(tracker.decide(0)).toEqual({ kind: "wait", untilMs: 5000 });
    tracker.recordUpdate(permit, update(5, 60), 10);
    expect(sendBurst(tracker, 10)).toBe(5);
  });

  test("does not allow a burst if the last response is older than a second", () => {
    const tracker = new WindowTracker(16);
    tracker.recordUpdate(tracker.recordSent(0), update(50, 60), 0);
    expect(sendBurst(tracker, 1500)).toBe(1);
  });

  test("never allows more than parallelMax requests in flight", () => {
    const tracker = new WindowTracker(4);
    tracker.recordUpdate(tracker.recordSent(0), update(50, 60), 0);
    expect(sendBurst(tracker, 0)).toBe(4);
  });

  test("assumes that the service counted a request without a response", () => {
    const tracker = new WindowTracker(16);
    tracker.recordUpdate(tracker.recordSent(0), update(3, 60), 0);
    tracker.recordSent(0);
    tracker.recordLost();
    expect(sendBurst(tracker, 0)).toBe(2);
  });

  test("does not let a hanging request block the others for more than five seconds", () => {
    const tracker = new WindowTracker(16);
    tracker.recordSent(0);
    expect(tracker.decide(4999).kind).toBe("wait");
    expect(tracker.decide(5000).kind).toBe("go");
  });

  test("counts hanging requests against the window until it ends", () => {
    const tracker = new WindowTracker(16);
    tracker.recordUpdate(tracker.recordSent(0), update(2, 60), 0);
    expect(sendBurst(tracker, 0)).toBe(2);
    expect(tracker.decide(59_999)).toEqual({ kind: "wait", untilMs: 60_000 });
    expect(tracker.decide(60_000).kind).toBe("go");
  });

  test("accepts a higher number of remaining requests only from a later request", () => {
    const tracker = new WindowTracker(16);
    const early = tracker.recordSent(0);
    tracker.recordUpdate(tracker.recordSent(0), update(1, 60), 0);
    tracker.recordUpdate(early, update(9, 60), 0);
    expect(tracker.decide(0).kind).toBe("go");
    const later = tracker.recordSent(0);
    expect(tracker.decide(0).kind).toBe("wait");
    tracker.recordUpdate(later, update(300, 60), 0);
    expect(sendBurst(tracker, 0)).toBe(16);
  });
});

describe("the rate limit headers", () => {
  const required = {
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "9",
    "x-ratelimit-reset": "160",
  };
  const endsInMs = (extra: Record<string, string>) =>
    readLimitUpdate(new Headers({ ...required, ...extra }), 90_000)?.endsInMs;

  test("give the time to the reset from RateLimit, then Date, then the local clock", () => {
    const date = new Date(150_000).toUTCString();
    const ratelimit = '"minute";r=9;t=12, "day";r=900;t=4000';
    expect(endsInMs({ ratelimit, date })).toBe(12_000);
    expect(endsInMs({ date })).toBe(10_000);
    expect(endsInMs({})).toBe(70_000);
    expect(endsInMs({ ratelimit: '"minute";r=9;t=12, "day";r=9;t=4000' })).toBe(4_000_000);
  });

  test("are ignored if one is missing or not a number", () => {
    expect(readLimitUpdate(new Headers(), 0)).toBeUndefined();
    expect(
      readLimitUpdate(new Headers({ ...required, "x-ratelimit-remaining": "many" }), 0),
    ).toBeUndefined();
  });

  test("include Retry-After as a number or as a date", () => {
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

/** Sends as many requests as the tracker allows now; returns their number. */
function sendBurst(tracker: WindowTracker, nowMs: number): number {
  let count = 0;
  while (tracker.decide(nowMs).kind === "go") {
    tracker.recordSent(nowMs);
    count++;
  }
  return count;
}
