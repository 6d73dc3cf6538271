import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { plans } from "../../src/domain/limits/plans.ts";
import { anEntry } from "../support/audit.ts";
import { testStart } from "../support/clock.ts";
import { startTestService, type TestResponse, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

let service: TestService;
let id: string;
let key: string;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Small, so that it is soon exhausted. As many strikes ban its key as one of the Free plan. */
const limits = { perMinute: 5, perDay: 1_000 };
// Each test has keys of its own, and begins later than the one before it has moved the clock.
let days = 0;
beforeEach(async () => {
  days += 20;
  service.clock.set(testStart + days * dayMs);
  ({ id, text: key } = await service.issueKey({ plan: "enterprise", limits }));
});
const request = () => service.call("GET", "/nothing", { key });
const codeOf = (response: TestResponse) => (response.json as { code: string }).code;

async function times<T>(count: number, work: () => Promise<T>): Promise<T> {
  let last: T | undefined;
  for (let at = 0; at < count; at++) last = await work();
  return last!;
}

/** Exhausts the minute, gets one request rejected, and waits until the grace period is over. */
async function exhaust(): Promise<void> {
  await times(limits.perMinute, request);
  expect(codeOf(await request())).toBe("rate_limit_exceeded");
  service.clock.advance(1_001);
}

/** Gets the key banned in a new minute and returns the length of the ban in minutes. */
async function earnBan(): Promise<number> {
  const past = service.clock.now() % minuteMs;
  if (past > 0) service.clock.advance(minuteMs - past);
  await exhaust();
  expect(codeOf(await times(19, request))).toBe("rate_limit_exceeded");
  const banned = await request();
  expect(codeOf(banned)).toBe("key_banned");
  const seconds = Number(banned.headers.get("retry-after"));
  service.clock.advance(seconds * 1000);
  expect(codeOf(await request())).toBe("not_found");
  return seconds / 60;
}

describe("strikes", () => {
  test("do not include requests within a second of the first rejected one, however many", async () => {
    await times(limits.perMinute + 40, request);
    service.clock.advance(1_000);
    expect(codeOf(await times(40, request))).toBe("rate_limit_exceeded");
  });

  test("ban a key for five minutes with the twentieth in one minute", async () => {
    await exhaust();
    expect(codeOf(await times(19, request))).toBe("rate_limit_exceeded");
    const banned = await request();
    expect(banned.status).toBe(429);
    expect(codeOf(banned)).toBe("key_banned");
    const until = (service.clock.now() + 5 * minuteMs) / 1000;
    expect(banned.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(Number(banned.headers.get("x-ratelimit-reset"))).toBe(Math.ceil(until));
    expect(banned.headers.get("retry-after")).toBe("300");
  });

  test("are counted per minute: nineteen in each of two minutes do not ban a key", async () => {
    const limits = { perMinute: 60, perDay: 5 };
    ({ text: key } = await service.issueKey({ plan: "enterprise", limits }));
    await times(6, request);
    service.clock.advance(1_001);
    for (let minute = 0; minute < 3; minute++) {
      expect(codeOf(await times(19, request))).toBe("rate_limit_exceeded");
      service.clock.advance(minuteMs);
    }
  });

  test("needed for a larger plan are a tenth of its requests per minute", async () => {
    const limits = { perMinute: 255, perDay: 1_000 };
    ({ text: key } = await service.issueKey({ plan: "enterprise", limits }));
    await times(256, request);
    service.clock.advance(1_001);
    expect(codeOf(await times(25, request))).toBe("rate_limit_exceeded");
    expect(codeOf(await request())).toBe("key_banned");
  });
});

describe("a ban", () => {
  test("doubles within a day up to an hour, and starts over after a day without", async () => {
    const lengths: number[] = [];
    for (let ban = 0; ban < 6; ban++) lengths.push(await earnBan());
    expect(lengths).toEqual([5, 10, 20, 40, 60, 60]);
    service.clock.advance(24 * 60 * minuteMs);
    expect(await earnBan()).toBe(5);
  });

  test("doubles within a day of the start of the last one, however long that lasted", async () => {
    const start = service.clock.now();
    for (const [sinceStartMs, minutes] of [
      [dayMs - minuteMs, 10],
      [dayMs + minuteMs, 5],
    ] as const) {
      const startedAt = service.clock.now() + 1_001;
      expect(await earnBan()).toBe(5);
      // `earnBan` also waits for the grace period before the ban.
      service.clock.set(startedAt - 1_001 + sinceStartMs);
      expect(await earnBan()).toBe(minutes);
      service.clock.set(start + 10 * dayMs);
    }
  });

  test("does not get longer by requests during it", async () => {
    await exhaust();
    await times(20, request);
    const end = service.clock.now() + 5 * minuteMs;
    for (let minute = 1; minute < 5; minute++) {
      service.clock.advance(minuteMs);
      expect(codeOf(await times(40, request))).toBe("key_banned");
    }
    service.clock.set(end - 1);
    expect((await request()).headers.get("retry-after")).toBe("1");
    service.clock.set(end);
    expect(codeOf(await request())).toBe("not_found");
  });

  test("survives a restart, and the next one is still twice as long", async () => {
    await exhaust();
    await times(20, request);
    await service.restart();
    expect(codeOf(await request())).toBe("key_banned");
    service.clock.advance(5 * minuteMs);
    await service.restart();
    expect(codeOf(await request())).toBe("not_found");
    expect(await earnBan()).toBe(10);
  });

  test("that was lifted is over on the next request, also after a restart", async () => {
    await exhaust();
    await times(20, request);
    expect(codeOf(await request())).toBe("key_banned");
    // A ban is stored soon after it began.
    const lift = () => service.store.usage.liftBan(id, service.clock.now(), anEntry);
    await until(lift, 5_000, "the ban is lifted");
    expect(codeOf(await request())).toBe("rate_limit_exceeded");
    service.clock.advance(minuteMs);
    expect(codeOf(await request())).toBe("not_found");
    await service.restart();
    expect(codeOf(await request())).toBe("not_found");
    expect(await earnBan()).toBe(5);
  });

  test("of one key does not affect others", async () => {
    await exhaust();
    await times(20, request);
    const other = await service.issueKey({ plan: "free", limits: plans.free });
    expect((await service.call("GET", "/inventory", { key: other.text })).status).toBe(200);
  });
});

describe("a client that waits is never banned:", () => {
  test("a client that backs off exponentially, minute after minute", async () => {
    for (let minute = 0; minute < 5; minute++) {
      const end = (Math.floor(service.clock.now() / minuteMs) + 1) * minuteMs;
      let waitMs = 100;
      for (;;) {
        const response = await request();
        expect(codeOf(response)).not.toBe("key_banned");
        if (response.status !== 429) continue;
        service.clock.advance(waitMs);
        waitMs *= 2;
        if (service.clock.now() >= end) break;
      }
    }
  });

  test("a job that retries every half hour on an exhausted day", async () => {
    const limits = { perMinute: 60, perDay: 3 };
    ({ text: key } = await service.issueKey({ plan: "enterprise", limits }));
    await times(3, request);
    for (let hour = 0; hour < 11; hour++) {
      for (let half = 0; half < 2; half++) {
        expect(codeOf(await request())).toBe("rate_limit_exceeded");
        service.clock.advance(30 * minuteMs);
      }
    }
  });
});
