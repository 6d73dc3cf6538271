import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { plans } from "../../src/domain/limits/plans.ts";
import { testStart } from "../support/clock.ts";
import { startTestService, type TestService } from "../support/service.ts";

const dayMs = 86_400_000;

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());
// Each test has keys of its own, and begins later than the one before it has moved the clock.
let days = 0;
beforeEach(() => {
  days += 10;
  service.clock.set(testStart + days * dayMs);
});

const free = { plan: "free", limits: plans.free } as const;
const request = (key: string, path = "/inventory", method = "GET") =>
  service.call(method, path, { key });

/** Sends `count` requests over the given number of connections and returns the statuses. */
async function requestMany(key: string, count: number, connections = 1): Promise<number[]> {
  const statuses: number[] = [];
  let left = count;
  const connection = async () => {
    while (left-- > 0) statuses.push((await request(key)).status);
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return statuses;
}

const numbers = (headers: Headers) => ({
  limit: Number(headers.get("x-ratelimit-limit")),
  remaining: Number(headers.get("x-ratelimit-remaining")),
  reset: Number(headers.get("x-ratelimit-reset")),
});

describe("the minute", () => {
  test("admits exactly 60 requests of a Free key over 8 connections; the 61st is 429", async () => {
    const { text: key } = await service.issueKey(free);
    const statuses = await requestMany(key, 100, 8);
    expect(statuses.filter((status) => status === 200)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
    const refused = await request(key);
    const now = service.clock.now();
    expect(numbers(refused.headers)).toEqual({
      limit: 60,
      remaining: 0,
      reset: (now + 60_000) / 1000,
    });
    expect(refused.headers.get("retry-after")).toBe("60");
    expect(refused.headers.get("cache-control")).toBe("no-store");
    service.clock.advance(59_999);
    const late = await request(key);
    expect([late.status, late.headers.get("retry-after")]).toEqual([429, "1"]);
    service.clock.advance(1);
    expect((await requestMany(key, 61, 8)).filter((status) => status === 200)).toHaveLength(60);
  });

  test("counts every response: 304, 400, 403, 404 and 405 as well as 200", async () => {
    const { text: key } = await service.issueKey({ scopes: ["inventory:read", "inventory:write"] });
    const tag = (await request(key)).headers.get("etag");
    const patch = (body: string) => service.call("PATCH", "/inventory/1", { key, body });
    const responses = [
      await service.call("GET", "/inventory", { key, headers: { "If-None-Match": tag ?? "" } }),
      await patch("{"),
      await request(key, "/store/orders"),
      await request(key, "/nothing"),
      await patch('{"quantity":1}'),
      await request(key, "/inventory", "DELETE"),
    ];
    expect(responses.map((response) => response.status)).toEqual([304, 400, 403, 404, 404, 405]);
    const remaining = responses.map((response) => numbers(response.headers).remaining);
    expect(remaining).toEqual([998, 997, 996, 995, 994, 993]);
  });

  test("of one key does not affect another's", async () => {
    const [one, other] = [await service.issueKey(free), await service.issueKey(free)];
    await requestMany(one.text, 61);
    expect((await request(other.text)).status).toBe(200);
  });
});

describe("the day", () => {
  test("limits at its number, and the error names its reset", async () => {
    const limits = { perMinute: 50, perDay: 120 };
    const { text: key } = await service.issueKey({ plan: "enterprise", limits });
    const admitted: number[] = [];
    for (const count of [51, 51, 51, 1]) {
      const statuses = await requestMany(key, count);
      admitted.push(statuses.filter((status) => status === 200).length);
      service.clock.advance(60_000);
    }
    expect(admitted).toEqual([50, 50, 20, 0]);
    const midnight = (Math.floor(service.clock.now() / dayMs) + 1) * dayMs;
    const refused = await request(key);
    expect(numbers(refused.headers)).toEqual({ limit: 120, remaining: 0, reset: midnight / 1000 });
    expect(Number(refused.headers.get("retry-after"))).toBe(
      (midnight - service.clock.now()) / 1000,
    );
    service.clock.set(midnight);
    expect((await request(key)).status).toBe(200);
  });

  test("is in the headers once it has fewer requests left than the minute", async () => {
    const { text: key } = await service.issueKey({
      plan: "enterprise",
      limits: { perMinute: 10, perDay: 12 },
    });
    for (let left = 9; left >= 5; left--) {
      expect(numbers((await request(key)).headers)).toMatchObject({ limit: 10, remaining: left });
    }
    service.clock.advance(60_000);
    expect(numbers((await request(key)).headers)).toMatchObject({ limit: 12, remaining: 6 });
  });
});

describe("a clock that goes back", () => {
  test("reopens no window, and the limit resets when the clock reaches its end again", async () => {
    const { text: key } = await service.issueKey(free);
    await requestMany(key, 60);
    service.clock.advance(-3_600_000);
    expect((await request(key)).status).toBe(429);
    service.clock.advance(3_600_000 + 60_000);
    expect((await request(key)).status).toBe(200);
  });

  test("reopens no window across a restart", async () => {
    const { text: key } = await service.issueKey(free);
    await requestMany(key, 60);
    service.clock.advance(-2 * dayMs);
    await service.restart();
    expect((await request(key)).status).toBe(429);
  });
});

test("the counts survive a restart to the last request", async () => {
  const { text: key } = await service.issueKey(free);
  await requestMany(key, 37, 4);
  await service.restart();
  expect(numbers((await request(key)).headers).remaining).toBe(22);
  await requestMany(key, 22, 4);
  await service.restart();
  expect((await request(key)).status).toBe(429);
});
