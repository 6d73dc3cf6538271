import { expect, test } from "bun:test";
import { type Plan, plans } from "../../src/domain/limits/plans.ts";
import { testStart } from "../support/clock.ts";
import { onEveryEngine, statusesOf } from "../support/conformance.ts";
import {
  expectCommonHeaders,
  expectError,
  expectUnchanged,
  limitsOf,
} from "../support/responses.ts";

onEveryEngine("limits", (service, engine) => {
  const ask = (key: string) => service().call("GET", "/inventory", { key });
  const issue = async (perMinute: number, perDay: number) =>
    (await service().issueKey({ plan: "enterprise", limits: { perMinute, perDay } })).text;
  const planKey = async (plan: Exclude<Plan, "enterprise">) =>
    (await service().issueKey({ plan, limits: plans[plan] })).text;
  /** Moves the clock to the start of the next UTC minute, where a new window begins. */
  const nextMinute = () => {
    const now = service().clock.now();
    service().clock.set(now - (now % 60_000) + 60_000);
  };

  test("[plans.1] Free allows 60 requests per minute and 1000 per day", async () => {
    const key = await planKey("free");
    let admitted = 0;
    for (let minute = 0; minute < 18; minute++) {
      const statuses = await Promise.all(Array.from({ length: 61 }, () => ask(key)));
      const here = statuses.filter(({ status }) => status === 200).length;
      expect(here).toBe(minute < 16 ? 60 : minute === 16 ? 40 : 0);
      admitted += here;
      nextMinute();
    }
    expect(admitted).toBe(1_000);
  });

  test("[plans.2] Pro allows 300 requests per minute and 10000 per day", async () => {
    const key = await planKey("pro");
    const first = await ask(key);
    expect(first.headers.get("RateLimit-Policy")).toBe(
      '"minute";q=300;w=60, "day";q=10000;w=86400',
    );
    // Free shows on both engines that a minute admits the plan's number.
    if (engine === "postgres") return;
    const rest = await Promise.all(Array.from({ length: 300 }, () => ask(key)));
    expect(rest.filter(({ status }) => status === 200).length).toBe(299);
  });

  test("[plans.3] Business allows 1000 requests per minute and 100000 per day", async () => {
    const key = await planKey("business");
    const first = await ask(key);
    expect(first.headers.get("RateLimit-Policy")).toBe(
      '"minute";q=1000;w=60, "day";q=100000;w=86400',
    );
    if (engine === "postgres") return;
    const rest = await Promise.all(Array.from({ length: 1_000 }, () => ask(key)));
    expect(rest.filter(({ status }) => status === 200).length).toBe(999);
  });

  test("[open.enterprise] an Enterprise key has the limits it was created with", async () => {
    const key = await issue(7, 12);
    expect(limitsOf(await ask(key))).toMatchObject({ limit: 7, remaining: 6 });
    expect(plans.enterprise).toBeNull();
  });

  test("[limits.1] every response has the three rate-limit headers, whatever its status", async () => {
    const { text: key } = await service().issueKey();
    const responses = [
      await ask(key),
      await service().call("GET", "/inventory"),
      await service().call("PATCH", "/inventory/x", { key, body: "{}" }),
      await service().call("GET", "/nothing", { key }),
      await service().call("DELETE", "/inventory", { key }),
      await service().call("OPTIONS", "/inventory"),
      await service().call("HEAD", "/inventory", { key }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 401, 400, 404, 405, 204, 200]);
    for (const response of responses) expectCommonHeaders(response);
  });

  test("[limits.2] Reset is the Unix time, in seconds, at which the window ends", async () => {
    const { clock } = service();
    nextMinute();
    const start = clock.now();
    const key = await issue(10, 100);
    clock.advance(12_345);
    expect(limitsOf(await ask(key)).reset).toBe((start + 60_000) / 1_000);
  });

  test("[limits.3] a request over the limit gets 429 and changes nothing", async () => {
    await service().addPets({ petId: 1n });
    const key = await issue(1, 100);
    await ask(key);
    const body = '{"quantity":9}';
    const over = () => service().call("PATCH", "/inventory/1", { key, body });
    expectError(await expectUnchanged(service().store, over), "rate_limit_exceeded");
  });

  test("[limits.4] a client that waits for Retry-After is accepted again", async () => {
    const { clock } = service();
    const key = await issue(1, 100);
    await ask(key);
    clock.advance(20_500);
    const rejected = await ask(key);
    expectError(rejected, "rate_limit_exceeded");
    clock.advance(Number(rejected.headers.get("Retry-After")) * 1_000);
    expect((await ask(key)).status).toBe(200);
  });

  test("[open.windows] a request must fit both minute and day; a rejected one counts against neither", async () => {
    const { clock } = service();
    clock.set(testStart + 10 * 86_400_000);
    const day = (testStart + 10 * 86_400_000) / 1_000 + 43_200;
    const key = await issue(3, 5);
    const seen = async () => ({ ...(await ask(key).then(limitsOf)), at: clock.now() / 1_000 });
    const minute = () => clock.now() / 1_000 + 60;
    // The window with fewer requests left is reported: first the minute.
    expect(await seen()).toMatchObject({ limit: 3, remaining: 2, reset: minute() });
    expect(await statusesOf(4, () => ask(key))).toEqual([200, 200, 429, 429]);
    expect(await seen()).toMatchObject({ limit: 3, remaining: 0, reset: minute() });
    // Rejected requests did not count in the day: two of five are left.
    nextMinute();
    expect(await seen()).toMatchObject({ limit: 5, remaining: 1, reset: day });
    expect(await seen()).toMatchObject({ limit: 5, remaining: 0, reset: day });
    // The day is exhausted although the minute is not.
    const rejected = await ask(key);
    expectError(rejected, "rate_limit_exceeded");
    expect(limitsOf(rejected)).toEqual({ limit: 5, remaining: 0, reset: day });
    // Both windows begin at midnight UTC.
    clock.set(day * 1_000 - 1);
    expect((await ask(key)).status).toBe(429);
    clock.set(day * 1_000);
    expect((await ask(key)).status).toBe(200);
  });

  test("[open.both-windows] when both windows are exhausted the later reset counts", async () => {
    const key = await issue(2, 2);
    await statusesOf(2, () => ask(key));
    const { clock } = service();
    const dayEnd = clock.now() - (clock.now() % 86_400_000) + 86_400_000;
    expect(limitsOf(await ask(key))).toEqual({ limit: 2, remaining: 0, reset: dayEnd / 1_000 });
  });

  test("[open.too-many] a 429 has an Error body, whole seconds in Retry-After and no-store", async () => {
    const { clock } = service();
    nextMinute();
    const key = await issue(1, 100);
    await ask(key);
    const expected: [number, string][] = [
      [0, "60"],
      [1, "60"],
      [58_999, "1"],
      [999, "1"],
    ];
    for (const [waitedMs, seconds] of expected) {
      clock.advance(waitedMs);
      const response = await ask(key);
      expectError(response, "rate_limit_exceeded");
      expect(response.headers.get("Retry-After")).toBe(seconds);
      expect(response.headers.get("Cache-Control")).toBe("no-store");
    }
  });

  test("[open.ietf] RateLimit and RateLimit-Policy show both windows", async () => {
    const { clock } = service();
    nextMinute();
    clock.advance(10_000);
    const key = await issue(10, 100);
    const { headers } = await ask(key);
    const dayLeft = Math.ceil((86_400_000 - (clock.now() % 86_400_000)) / 1_000);
    expect(headers.get("RateLimit-Policy")).toBe('"minute";q=10;w=60, "day";q=100;w=86400');
    expect(headers.get("RateLimit")).toBe(`"minute";r=9;t=50, "day";r=99;t=${dayLeft}`);
  });

  test("[open.restart] counts and bans survive a restart", async () => {
    nextMinute();
    const key = await issue(2, 100);
    await statusesOf(2, () => ask(key));
    await service().restart();
    expect((await ask(key)).status).toBe(429);
    service().clock.advance(1_001);
    const statuses = await statusesOf(20, () => ask(key));
    expect(statuses).toEqual(Array(20).fill(429));
    expectError(await ask(key), "key_banned");
    await service().restart();
    expectError(await ask(key), "key_banned");
  });

  test("[open.clock] a clock that is set back reopens no window, and makes nobody wait longer than one", async () => {
    const { clock } = service();
    nextMinute();
    const start = clock.now();
    const key = await issue(2, 100);
    expect(await statusesOf(3, () => ask(key))).toEqual([200, 200, 429]);
    for (const [backMs, resetAt] of [
      [1, start + 60_000],
      [10_000, start + 60_000],
      [60_000, start],
      [86_400_000, start - 86_400_000 + 60_000],
    ] as const) {
      clock.set(start - backMs);
      const response = await ask(key);
      expectError(response, "rate_limit_exceeded");
      expect(limitsOf(response).reset).toBe(resetAt / 1_000);
      // A client that waits for Retry-After returns after the window has ended, not before.
      const waitMs = Number(response.headers.get("Retry-After")) * 1_000;
      expect(clock.now() + waitMs).toBeGreaterThanOrEqual(resetAt);
      expect(clock.now() + waitMs).toBeLessThan(resetAt + 1_000);
    }
    clock.set(start + 60_000);
    expect((await ask(key)).status).toBe(200);
  });
});
