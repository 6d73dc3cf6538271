import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { generateToken } from "../../src/domain/keys/keys.ts";
import { changeKey, revokeKey, rotateKey } from "../../src/domain/keys/lifecycle.ts";
import { cookieIn, issueOperator, ownPage, signIn } from "../support/admin/operators.ts";
import { expectError } from "../support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const twelveHoursMs = 12 * 60 * 60 * 1_000;

describe.each([surfaceEngine])("sessions on %s", (engine) => {
  let service: TestService;
  let operator: { id: string; text: string };
  beforeAll(async () => {
    service = await startTestService(engine, { "sign-in-per-minute": "100000" });
  });
  beforeEach(async () => {
    operator = await issueOperator(service);
  });
  afterAll(() => service.stop());

  const who = (cookie: string) =>
    service.call("GET", "~/admin/session", { headers: { Cookie: cookie } });
  const statusOf = async (cookie: string) => (await who(cookie)).status;

  test("a key is exchanged for a cookie, which identifies the operator until sign-out", async () => {
    const started = await service.call("POST", "~/admin/session", { key: operator.text });
    expect(started.status).toBe(201);
    expect(started.json).toEqual({
      operator: { id: operator.id, name: "Ada", role: "owner" },
      environment: "production",
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      expiresAt: new Date(service.clock.now() + twelveHoursMs).toISOString(),
    });
    expect(started.headers.get("set-cookie")).toMatch(
      /^petstore_production=[0-9A-Za-z]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    const cookie = cookieIn(started.headers);
    expect((await who(cookie)).json).toEqual(started.json);
    const ended = await service.call("DELETE", "~/admin/session", { headers: ownPage(cookie) });
    expect([ended.status, ended.headers.get("set-cookie")]).toEqual([
      204,
      "petstore_production=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict",
    ]);
    expectError(await who(cookie), "unauthorized");
    const again = await service.call("DELETE", "~/admin/session", { headers: ownPage(cookie) });
    expectError(again, "unauthorized");
    const [end, start] = await service.store.audit.listEntries({ keyId: operator.id }, 10);
    expect([start?.action, end?.action]).toEqual(["session.started", "session.ended"]);
    expect(start).toMatchObject({ requestId: started.headers.get("x-request-id"), details: {} });
  });

  test("a cookie from before the sign-in is never accepted, and every sign-in makes a new token", async () => {
    const planted = `petstore_production=${generateToken()}`;
    const headers = { ...ownPage(planted), Authorization: `Bearer ${operator.text}` };
    const first = cookieIn((await service.call("POST", "~/admin/session", { headers })).headers);
    const second = await signIn(service, operator.text);
    expect(new Set([planted, first, second]).size).toBe(3);
    expect(await Promise.all([planted, first, second].map(statusOf))).toEqual([401, 200, 200]);
    // Which of two cookies with the same name the service has set is unknown.
    expect(await statusOf(`${planted}; ${first}`)).toBe(401);
    expect(await statusOf(`${first}; ${planted}`)).toBe(401);
    expect(await statusOf(`theme=dark; ${first}; a=b`)).toBe(200);
  });

  test("a cookie alone does not start another session", async () => {
    const cookie = await signIn(service, operator.text);
    const again = await service.call("POST", "~/admin/session", { headers: ownPage(cookie) });
    expectError(again, "invalid_request");
    expect(again.headers.has("set-cookie")).toBe(false);
  });

  test("a stolen cookie is worthless once its key is revoked", async () => {
    const cookie = await signIn(service, operator.text);
    expect(await statusOf(cookie)).toBe(200);
    await revokeKey(service.store, operator.id, byCommand(service.clock.now()), true);
    expectError(await who(cookie), "unauthorized");
  });

  test("a session ends with the secret that started it", async () => {
    const { store, clock } = service;
    const rotate = (overlapMs: number) =>
      rotateKey(store, "production", operator.id, byCommand(clock.now()), overlapMs);
    const first = await signIn(service, operator.text);
    const { text } = await rotate(60_000);
    const second = await signIn(service, text);
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
    clock.advance(60_000);
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
    await rotate(0);
    expect(await statusOf(second)).toBe(401);
  });

  test("a session ends after twelve hours, or with its key if that is earlier", async () => {
    const { store, clock } = service;
    const whole = await signIn(service, operator.text);
    clock.advance(twelveHoursMs - 1);
    expect(await statusOf(whole)).toBe(200);
    const expiresAt = clock.now() + 1_000;
    await changeKey(store, operator.id, { expiresAt }, byCommand(clock.now()), true);
    const { headers, json } = await service.call("POST", "~/admin/session", {
      key: operator.text,
    });
    expect(json).toMatchObject({ expiresAt: new Date(expiresAt).toISOString() });
    const short = cookieIn(headers);
    clock.advance(1);
    expect([await statusOf(whole), await statusOf(short)]).toEqual([401, 200]);
    clock.advance(999);
    expect(await statusOf(short)).toBe(401);
  });

  test("a session survives a restart, and the store has only a digest of its token", async () => {
    const cookie = await signIn(service, operator.text);
    const token = cookie.split("=")[1]!;
    await service.restart();
    expect(await statusOf(cookie)).toBe(200);
    expect(await service.store.sessions.findSession(token)).toBeUndefined();
    expect(service.logged.join()).not.toContain(token);
    expect(service.logged.join()).not.toContain(operator.text);
  });

  test("a key has at most 100 sessions, and one more ends the oldest", async () => {
    const cookies: string[] = [];
    while (cookies.length < 100) {
      cookies.push(await signIn(service, operator.text));
      service.clock.advance(1_000);
    }
    const [first, second] = cookies as [string, string];
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
    const last = await signIn(service, operator.text);
    await until(async () => (await statusOf(first)) === 401, 1_000, "the end of the oldest");
    expect([await statusOf(second), await statusOf(last)]).toEqual([200, 200]);
  });

  test("an operator key is no API key, and an API key is no operator key", async () => {
    const { text: apiKey } = await service.issueKey();
    expectError(await service.call("GET", "/inventory", { key: operator.text }), "unauthorized");
    const signedIn = await service.call("POST", "~/admin/session", { key: apiKey });
    expectError(signedIn, "unauthorized");
    expect(signedIn.headers.has("set-cookie")).toBe(false);
    const cookie = await signIn(service, operator.text);
    const headers = { Cookie: cookie };
    expectError(await service.call("GET", "/inventory", { headers }), "unauthorized");
    // The header decides: an invalid key is not made up for by a valid cookie.
    const both = await service.call("GET", "~/admin/session", { key: apiKey, headers });
    expectError(both, "unauthorized");
  });

  test("an open stream ends soon after its session", async () => {
    const cookie = await signIn(service, operator.text);
    const url = new URL("/admin/changes", service.baseUrl);
    const stream = await fetch(url, { headers: { Cookie: cookie, Accept: "text/event-stream" } });
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    expect(stream.headers.get("cache-control")).toBe("no-store, no-transform");
    const ended = stream.text();
    await service.call("DELETE", "~/admin/session", { headers: ownPage(cookie) });
    expect(await ended).toStartWith("retry: ");
  });

  test("a session counts against the limits of its key", async () => {
    const cookie = await signIn(service, operator.text);
    const left = async () => Number((await who(cookie)).headers.get("x-ratelimit-remaining"));
    const before = await left();
    await service.call("GET", "~/admin/session", { key: operator.text });
    expect(await left()).toBe(before - 2);
  });
});

test("a session that ends on one instance soon ends on every other", async () => {
  const first = await startTestService("postgres");
  const second = await startTestService("postgres", { database: first.databaseUrl });
  try {
    const { id, text } = await issueOperator(first);
    const [signedOut, revoked] = [await signIn(first, text), await signIn(first, text)];
    const statusOn = async (service: TestService, cookie: string) =>
      (await service.call("GET", "~/admin/session", { headers: { Cookie: cookie } })).status;
    for (const cookie of [signedOut, revoked]) expect(await statusOn(second, cookie)).toBe(200);
    const headers = ownPage(signedOut);
    expect((await first.call("DELETE", "~/admin/session", { headers })).status).toBe(204);
    await until(async () => (await statusOn(second, signedOut)) === 401, 1_000, "signed out");
    expect(await statusOn(second, revoked)).toBe(200);
    await revokeKey(first.store, id, byCommand(first.clock.now()), true);
    await until(async () => (await statusOn(second, revoked)) === 401, 1_000, "revoked");
  } finally {
    await second.stop();
    await first.stop();
  }
});
