import { expect, test } from "bun:test";
import { isApiError, PetstoreClient } from "../../client/src/index.ts";
import { ManualClock, runOut, Traffic } from "./clock.ts";
import { apiKey, refuse, ScriptedService } from "./service.ts";

const start = Date.parse("2026-11-15T10:00:20Z");

function makeClient(service: ScriptedService, clock: ManualClock, options = {}) {
  const traffic = new Traffic();
  const { baseUrl } = service;
  const client = new PetstoreClient({ baseUrl, apiKey, clock, fetch: traffic.fetch, ...options });
  const run = <T>(work: Promise<T>) => runOut(clock, traffic, work);
  return { client, run };
}

test("200 parallel calls with a Free key all succeed, with no refusal, no strike and no ban", async () => {
  const clock = new ManualClock(start);
  await using service = new ScriptedService({ now: () => clock.now() });
  const { client, run } = makeClient(service, clock);
  const calls = Array.from({ length: 200 }, () => client.listInventory());
  const lists = await run(Promise.all(calls));
  expect(lists).toHaveLength(200);
  expect(service.limiter).toMatchObject({ admitted: 200, refused: 0, strikes: 0, bans: 0 });
  expect(clock.now() - start).toBeLessThan(200_000);
});

test("the same holds when the client's clock is an hour off in either direction", async () => {
  for (const skewMs of [-3_600_000, 3_600_000]) {
    const clock = new ManualClock(start);
    await using service = new ScriptedService({ now: () => clock.now() + skewMs });
    const { client, run } = makeClient(service, clock);
    await run(Promise.all(Array.from({ length: 130 }, () => client.listInventory())));
    expect(service.limiter).toMatchObject({ admitted: 130, refused: 0, strikes: 0 });
  }
});

test("five clients that know nothing of each other share a key without a ban", async () => {
  const clock = new ManualClock(start);
  await using service = new ScriptedService({ now: () => clock.now() });
  const { baseUrl } = service;
  const traffic = new Traffic();
  const clients = Array.from(
    { length: 5 },
    () => new PetstoreClient({ baseUrl, apiKey, clock, fetch: traffic.fetch }),
  );
  const calls = clients.flatMap((client) =>
    Array.from({ length: 40 }, () => client.listInventory()),
  );
  await runOut(clock, traffic, Promise.all(calls));
  expect(service.limiter).toMatchObject({ admitted: 200, bans: 0 });
  expect(service.limiter.strikes).toBeLessThan(20);
});

test("a day that is used up fails at once instead of waiting for midnight", async () => {
  const clock = new ManualClock(start);
  await using service = new ScriptedService({ now: () => clock.now(), perDay: 2 });
  const { client, run } = makeClient(service, clock);
  const outcomes = await run(
    Promise.allSettled([client.listInventory(), client.listInventory(), client.listInventory()]),
  );
  expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  const error = await client.listInventory().catch((reason: unknown) => reason);
  expect(isApiError(error) && error).toMatchObject({
    code: "rate_limit_exceeded",
    status: 429,
    requestId: undefined,
    retryAfter: (Date.parse("2026-11-16T00:00:00Z") - start) / 1000,
  });
  expect(clock.now()).toBe(start);
  expect(service.received).toHaveLength(2);
});

test("after a 429 no call is sent before Retry-After, also none that came later", async () => {
  const clock = new ManualClock(start);
  await using service = new ScriptedService({ now: () => clock.now() });
  const sentAt: number[] = [];
  const note = (answer: Response) => {
    sentAt.push(clock.now());
    return answer;
  };
  const limited = { "retry-after": "17" };
  service.interject(() => note(refuse(429, "rate_limit_exceeded", "Wait", limited)));
  service.interject(() => note(refuse(429, "key_banned", "Wait", { "retry-after": "90" })));
  const { client, run } = makeClient(service, clock, { random: () => 0 });
  await run(Promise.all([client.listInventory(), client.listInventory()]));
  expect(sentAt).toEqual([start, start + 17_000]);
  expect(clock.now()).toBe(start + 107_000);
  expect(service.received).toHaveLength(4);
});

test("limits shows what the last answer said", async () => {
  const clock = new ManualClock(start);
  await using service = new ScriptedService({ now: () => clock.now() });
  const { client } = makeClient(service, clock);
  expect(client.limits).toBeUndefined();
  await client.listInventory();
  await client.listInventory();
  expect(client.limits).toEqual({
    limit: 60,
    remaining: 58,
    resetsAt: new Date("2026-11-15T10:01:00Z"),
  });
});
