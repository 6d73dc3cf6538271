import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { SeenResponse } from "../support/contract/checker.ts";
import { documentedOperations } from "../support/contract/document.ts";
import { checkAgainstContract } from "../support/contract/response-check.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await startTestService();
  key = (await service.issueKey()).text;
  await service.addPets({ petId: 7n });
});
afterAll(() => service.stop());

async function seen(method = "GET", path = "/inventory"): Promise<SeenResponse> {
  const { status, headers, text } = await service.call(method, path, { key });
  return { method, pathname: `/v1${path}`, status, headers: new Headers(headers), text };
}

describe("a response fails the test that receives it", () => {
  test("when its status is not documented", async () => {
    const answer = { ...(await seen()), status: 418 };
    expect(() => checkAgainstContract(answer)).toThrow("status 418 is not documented");
  });

  test("when a header is missing, has the wrong type, or is not documented", async () => {
    const answer = await seen();
    answer.headers.delete("X-RateLimit-Limit");
    answer.headers.set("X-RateLimit-Reset", "soon");
    answer.headers.set("X-Surprise", "1");
    expect(() => checkAgainstContract(answer)).toThrow(
      /X-RateLimit-Limit is missing\n.*X-RateLimit-Reset is not an integer: soon\n.*x-surprise is not doc/,
    );
  });

  test("when its body lacks a field, has an unknown field, or has a number that is not an int64", async () => {
    for (const text of [
      '[{"petId":7,"quantity":0}]',
      '[{"petId":7,"quantity":0,"status":"available","extra":1}]',
      '[{"petId":9223372036854775808,"quantity":0,"status":"available"}]',
      '[{"petId":7.0,"quantity":0,"status":"available"}]',
      "not JSON",
    ]) {
      const answer = { ...(await seen()), text };
      expect(() => checkAgainstContract(answer)).toThrow("against openapi.json");
    }
  });

  test("when an error has a code or status that is not documented for it, or an unknown field", async () => {
    const answer = await seen("GET", "/pets/8");
    const text = '{"code":"gone","message":"","status":404}';
    expect(() => checkAgainstContract({ ...answer, text })).toThrow("body/code");
    const other = answer.text.replace('"status":404', '"status":410');
    expect(() => checkAgainstContract({ ...answer, text: other })).toThrow("body/status");
    const wider = answer.text.replace("}", ',"hint":""}');
    expect(() => checkAgainstContract({ ...answer, text: wider })).toThrow("additional properties");
  });

  test("when an event of a stream is malformed, of an unknown kind, or has other data", async () => {
    const { status, headers } = await service.call("GET", "/changes", {
      key,
      headers: { Accept: "text/event-stream" },
    });
    const pathname = "/v1/changes";
    const check = (text: string) => () =>
      checkAgainstContract({ method: "GET", pathname, status, headers, text });
    check('retry: 2000\n\nid: a-7\nevent: heartbeat\ndata: {"seq":7}\n\n')();
    for (const text of [
      'id: a-7\nevent: heartbeat\ndata: {"seq":7}\n',
      'event: heartbeat\ndata: {"seq":7}\n\n',
      'id: a-7\nevent: surprise\ndata: {"seq":7}\n\n',
      'id: a-7\nevent: heartbeat\ndata: {"seq":"7"}\n\n',
      "id: a-7\nevent: reset\ndata: {}\n\n",
      'id: a-7\nevent: change\ndata: {"seq":7}\n\n',
      "id: a-7\nevent: change\ndata: not JSON\n\n",
    ]) {
      expect(check(text)).toThrow("against openapi.json");
    }
    const page = new Headers(headers);
    page.set("Content-Type", "text/plain");
    const other = { method: "GET", pathname, status, headers: page, text: "[]" };
    expect(() => checkAgainstContract(other)).toThrow("Content-Type is text/plain");
  });

  test("when an unknown path returns anything but an Error with the rate limit headers", async () => {
    const answer = await seen("GET", "/nothing");
    checkAgainstContract(answer);
    expect(() => checkAgainstContract({ ...answer, text: "{}" })).toThrow("required property");
    const text = answer.text.replace("not_found", "gone");
    expect(() => checkAgainstContract({ ...answer, text })).toThrow("body.code gone is not one");
    answer.headers.delete("X-Request-Id");
    expect(() => checkAgainstContract(answer)).toThrow("X-Request-Id is missing");
  });
});

test("every documented status below 500 can be reached", async () => {
  const narrow = (await service.issueKey({ scopes: [] })).text;
  const spent = await service.issueKey({ limits: { perMinute: 1, perDay: 1 } });
  /** A valid body for every operation that has one. */
  const bodyFor =
    (petId: string, delta = 1) =>
    (method: string) =>
      method === "PATCH"
        ? `{"quantity":${delta}}`
        : `{"changes":[{"petId":${petId || 0},"delta":${delta}}]}`;
  const reached = new Map<string, Set<number>>();
  const visit = async (given: string | undefined, path: string, body = bodyFor(path)) => {
    for (const { path: template, method, operation } of documentedOperations) {
      const sent = method === "GET" ? {} : { body: body(method) };
      const unmet = { "If-Match": '"other"' };
      const plain = { "Content-Type": "text/plain" };
      const known = { "If-None-Match": "*" };
      const retry = { "Idempotency-Key": "one" };
      for (const headers of [{}, known, unmet, plain, retry]) {
        const address = (path ? template.replace("{petId}", path) : template)
          .replace("{moment}", path === "7" ? "1" : path === "8" ? "9999" : path)
          .replace("{requestId}", path === "x" ? "x" : "req_5f0c1e9a2b7d_42");
        const query = template.endsWith("/diff") ? "?to=0" : path === "x" ? "?limit=0" : "";
        const to = address + query;
        const answer = await service.call(method, to, { key: given, headers, ...sent });
        const statuses = reached.get(operation.operationId) ?? new Set();
        reached.set(operation.operationId, statuses.add(answer.status));
      }
    }
  };
  await visit(key, "7");
  await visit(key, "7", bodyFor("7", 2));
  await visit(key, "7", bodyFor("7", -9));
  await visit(key, "7", () => "x".repeat(300_000));
  await visit(key, "8");
  await visit(key, "x");
  await visit(undefined, "7");
  await visit(narrow, "7");
  await visit(spent.text, "7");
  service.clock.set(Date.UTC(2028, 0, 1));
  await visit(key, "7");
  for (const { operation } of documentedOperations) {
    const documented = Object.keys(operation.responses).map(Number);
    const statuses = [...reached.get(operation.operationId)!].sort();
    expect([operation.operationId, statuses]).toEqual([
      operation.operationId,
      documented.filter((status) => status < 500),
    ]);
  }
});
