import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Caller } from "../src/domain/keys/keys.ts";
import { ServiceError } from "../src/domain/running/errors.ts";
import { errorReply } from "../src/http/messages/errors.ts";
import type { Reply } from "../src/http/messages/reply.ts";
import { readJsonText } from "../src/http/messages/requests.ts";
import type { Authenticator } from "../src/http/pipeline/authenticator.ts";
import type { Context } from "../src/http/pipeline/context.ts";
import type { Call, Operation } from "../src/http/pipeline/operation.ts";
import type { Surface } from "../src/http/pipeline/surface.ts";
import { expectCommonHeaders, expectError } from "./support/responses.ts";
import { type CallOptions, startTestService, type TestService } from "./support/service.ts";

const operators: Record<string, Caller> = {
  alice: operator("alice", 1_000),
  // Has no scope.
  bob: { ...operator("bob", 1_000), scopes: [] },
  carol: operator("carol", 1),
  dave: operator("dave", 1_000),
};

function operator(name: string, perMinute: number): Caller {
  const limits = { perMinute, perDay: 10_000 };
  return { keyId: `operator_${name}`, limits, scopes: ["inventory:read"], expiresAt: Infinity };
}

let isDirectoryDown = false;
const callerOf = (request: Request) => operators[request.headers.get("x-operator") ?? ""];

/** Authenticates operators by name. */
const authenticator: Authenticator = {
  async identify(request) {
    if (isDirectoryDown) throw new ServiceError("unavailable", "The directory is unavailable.");
    return callerOf(request);
  },
  lastKnownCaller: callerOf,
  unauthorized: () =>
    errorReply("unauthorized", "Operators only.", { "WWW-Authenticate": "Operator" }),
  insufficientScope: (scope) =>
    errorReply("insufficient_scope", `Operators need ${scope}.`, {
      "WWW-Authenticate": "Operator",
    }),
};

const sunsetAt = Date.UTC(2027, 5, 1);
const deprecation = { since: Date.UTC(2027, 0, 1), sunsetAt };
const things = { scope: "inventory:read", stability: "stable" } as const;

const operations: readonly Operation[] = [
  { ...things, id: "getThing", method: "GET", path: "/things/{thingId}", handle: getThing },
  { ...things, id: "listThings", method: "GET", path: "/things", handle: () => text("[]") },
  {
    ...things,
    id: "addThing",
    method: "POST",
    path: "/things",
    stability: "beta",
    deprecation,
    body: { mediaTypes: ["application/json", "application/x-thing"], bytesMax: 10 },
    handle: addThing,
  },
  {
    ...{ ...things, id: "runThings", method: "POST", path: "/parts", handle: runThings },
    body: { mediaTypes: ["application/json"], bytesMax: 100 },
  },
  { ...things, id: "getOld", method: "GET", path: "/old", deprecation, handle: () => text("{}") },
];

/** Runs the parts that its body names. */
async function runThings(_context: Context, call: Call): Promise<Reply> {
  const ids: unknown[] = [];
  const parts = JSON.parse(await readJsonText(call.request, call.operation)) as string[];
  for (const [at, name] of parts.entries()) {
    const part = await call.runPart((_, { caller }) => {
      if (name === "bug") throw new TypeError("a bug");
      if (name === "leave") delete operators[caller.keyId.replace("operator_", "")];
      return text(JSON.stringify(caller.keyId));
    }, at === 0);
    ids.push([
      part.status,
      part.headers.get("X-RateLimit-Remaining"),
      part.headers.get("X-Request-Id"),
    ]);
  }
  return { ...text(JSON.stringify(ids)), hasParts: true };
}

const surface: Surface = { basePath: "/test", authenticator, operations };

function text(body: string): Reply {
  return { status: 200, body };
}

async function getThing({ store }: Context, { request, caller, operation }: Call): Promise<Reply> {
  const { seq } = await store.inventory.readHead();
  const { thingId } = request.params!;
  return text(JSON.stringify({ thingId, seq, keyId: caller.keyId, basePath: operation.basePath }));
}

async function addThing(_context: Context, { request, operation }: Call): Promise<Reply> {
  return text(await readJsonText(request, operation));
}

describe("a second surface", () => {
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    service = await startTestService("sqlite", {}, {}, { surfaces: [surface] });
    key = (await service.issueKey()).text;
    await service.addPets({ petId: 1n });
  });
  beforeEach(() => service.clock.set(Date.UTC(2027, 2, 1)));
  afterAll(() => service.stop());

  const call = (method: string, path: string, name?: string, options: CallOptions = {}) => {
    const headers = { ...options.headers, ...(name ? { "X-Operator": name } : {}) };
    return service.call(method, `~/test${path}`, { ...options, headers });
  };

  test("has its own operations, which use the same shop and the same limiter", async () => {
    const first = await call("GET", "/things/7", "alice");
    expect(first.status).toBe(200);
    expect(first.json).toEqual({
      thingId: "7",
      seq: 1,
      keyId: "operator_alice",
      basePath: "/test",
    });
    expectCommonHeaders(first);
    const second = await call("GET", "/things/7", "alice");
    const remaining = [first, second].map(({ headers }) => headers.get("X-RateLimit-Remaining"));
    expect(remaining).toEqual(["999", "998"]);
    expect(second.headers.get("X-RateLimit-Limit")).toBe("1000");
  });

  test("has its own authentication: neither surface accepts the other's credentials", async () => {
    const keyed = await call("GET", "/things/7", undefined, { key });
    expectError(keyed, "unauthorized");
    expect(keyed.headers.get("WWW-Authenticate")).toBe("Operator");
    expect(keyed.text).toContain("Operators only.");
    const named = await service.call("GET", "/inventory", { headers: { "X-Operator": "alice" } });
    expectError(named, "unauthorized");
    expect(named.headers.get("WWW-Authenticate")).toBe('Bearer realm="petstore"');
    expect((await service.call("GET", "/inventory", { key })).status).toBe(200);
  });

  test("checks scopes through its authenticator, and applies rate limits", async () => {
    const scopeless = await call("GET", "/things/7", "bob");
    expectError(scopeless, "insufficient_scope");
    expect(scopeless.headers.get("WWW-Authenticate")).toBe("Operator");
    expect((await call("GET", "/things/7", "carol")).status).toBe(200);
    expectError(await call("GET", "/things/7", "carol"), "rate_limit_exceeded");
  });

  test("returns 404, 405 and OPTIONS under its base path, and 401 without credentials", async () => {
    for (const path of ["", "/", "/nothing", "/inventory"]) {
      expectError(await call("GET", path), "unauthorized");
      expectError(await call("GET", path, "alice"), "not_found");
    }
    expectError(await service.call("GET", "/things", { key }), "not_found");
    const deleted = await call("DELETE", "/things", "alice");
    expectError(deleted, "method_not_allowed");
    expect(deleted.headers.get("Allow")).toBe("GET, HEAD, POST, OPTIONS");
    expect(deleted.text).toContain("Method not allowed. Use GET, HEAD, POST or OPTIONS.");
    const options = await call("OPTIONS", "/things");
    expect([options.status, options.headers.get("Allow")]).toEqual([
      204,
      "GET, HEAD, POST, OPTIONS",
    ]);
    expect((await service.call("GET", "~/testing")).status).toBe(404);
  });

  test("reads bodies by the rule of the operation", async () => {
    const post = (body: string, type: string) =>
      call("POST", "/things", "alice", { body, headers: { "Content-Type": type } });
    expect((await post("[1]", "application/x-thing; v=1")).text).toBe("[1]");
    expectError(await post("[1,2,3,4,5]", "application/json"), "payload_too_large");
    const patch = await post("[1]", "application/merge-patch+json");
    expectError(patch, "unsupported_media_type");
    expect(patch.text).toContain("The body must be application/json or application/x-thing.");
    const accepted = "application/json, application/x-thing";
    for (const method of ["GET", "POST", "PUT", "OPTIONS"]) {
      const response = await call(method, "/things", "alice");
      expect([method, response.headers.get("Accept-Post")]).toEqual([method, accepted]);
      expect(response.headers.has("Accept-Patch")).toBe(false);
    }
    const update = {
      key,
      body: '{"quantity":1}',
      headers: { "Content-Type": "application/x-thing" },
    };
    const api = await service.call("PATCH", "/inventory/1", update);
    expectError(api, "unsupported_media_type");
    expect(api.headers.get("Accept-Patch")).toBe("application/json, application/merge-patch+json");
  });

  test("marks an operation as deprecated on all its responses, and not its sibling", async () => {
    const marks = ({ headers }: { headers: Headers }) =>
      ["Deprecation", "Sunset", "Link", "X-Stability"].map((name) => headers.has(name));
    const post = (name?: string, body = "[]") => call("POST", "/things", name, { body });
    const own = [await post("alice"), await post(), await post("bob"), await post("alice", "")];
    expect(own.map(({ status }) => status)).toEqual([200, 401, 403, 400]);
    for (const response of own) expect(marks(response)).toEqual([true, true, true, true]);
    expect(own[0]!.headers.get("Deprecation")).toBe("@1798761600");
    expect(own[0]!.headers.get("Sunset")).toBe("Tue, 01 Jun 2027 00:00:00 GMT");
    for (const method of ["GET", "HEAD", "PUT", "OPTIONS"]) {
      expect(marks(await call(method, "/things", "alice"))).toEqual([false, false, false, false]);
    }
    // All operations of this path are deprecated, so the path is.
    for (const method of ["GET", "HEAD", "PUT", "OPTIONS"]) {
      expect(marks(await call(method, "/old", "alice"))).toEqual([true, true, true, false]);
    }
  });

  test("returns 410 from the sunset on, after authentication, limit and scope", async () => {
    const post = (name?: string) => call("POST", "/things", name, { body: "[]" });
    service.clock.set(sunsetAt - 1);
    expect((await post("alice")).status).toBe(200);
    service.clock.set(sunsetAt);
    expectError(await post("alice"), "gone");
    expectError(await post(), "unauthorized");
    expectError(await post("bob"), "insufficient_scope");
    expect((await call("PUT", "/things", "alice")).status).toBe(405);
    expect((await call("GET", "/things", "alice")).status).toBe(200);
    expectError(await call("GET", "/old", "alice"), "gone");
    expectError(await post("carol"), "gone");
    expectError(await post("carol"), "rate_limit_exceeded");
  });

  test("runs the parts of a request as requests of their own", async () => {
    const run = async (...parts: string[]) => {
      const answer = await call("POST", "/parts", "dave", { body: JSON.stringify(parts) });
      expect(answer.status).toBe(200);
      expect(new Set((answer.json as string[][]).map(([, , id]) => id)).size).toBe(parts.length);
      const remaining = answer.headers.get("X-RateLimit-Remaining");
      return [...(answer.json as unknown[][]).map(([status, left]) => [status, left]), remaining];
    };
    expect(await run("a", "b", "c")).toEqual([[200, "999"], [200, "998"], [200, "997"], "997"]);
    expect(await run("bug", "a")).toEqual([[500, "996"], [200, "995"], "995"]);
    expect(service.logged.filter((line) => line.includes('"bug"'))).toHaveLength(1);
    // Who is no longer known can do no more.
    expect((await run("leave", "a", "b")).slice(0, 3)).toEqual([
      [200, "994"],
      [401, expect.any(String)],
      [401, expect.any(String)],
    ]);
  });

  test("reports the limits of the last known caller when authentication fails", async () => {
    await call("GET", "/things", "alice");
    isDirectoryDown = true;
    const response = await call("GET", "/things", "alice");
    isDirectoryDown = false;
    expectError(response, "unavailable");
    expect(response.headers.get("X-RateLimit-Limit")).toBe("1000");
    expect((await call("GET", "/things", "alice")).status).toBe(200);
  });
});

test("a surface with the base path or a path of another one is rejected at the start", async () => {
  const [getThing] = operations;
  const sameRoute = { ...getThing!, path: "/{other}" };
  for (const second of [
    { ...surface, basePath: "/v1" },
    { ...surface, basePath: "/v1/inventory", operations: [sameRoute] },
  ]) {
    const started = startTestService("sqlite", {}, {}, { surfaces: [second] });
    await expect(started).rejects.toThrow("two surfaces have the path /v1");
  }
});

test("callers without a key in the store do not keep the counts of keys from being saved", async () => {
  const service = await startTestService("sqlite", {}, {}, { surfaces: [surface] });
  try {
    const { text: key } = await service.issueKey();
    const remaining = async () => {
      const { headers } = await service.call("GET", "/inventory", { key });
      return Number(headers.get("X-RateLimit-Remaining"));
    };
    const before = await remaining();
    const headers = { "X-Operator": "alice" };
    expect((await service.call("GET", "~/test/things", { headers })).status).toBe(200);
    await service.restart();
    expect(await remaining()).toBe(before - 1);
    expect(service.logged).toEqual([]);
  } finally {
    await service.stop();
  }
});

test("an operation whose reply is invalid gets 500, and the log has the reason", async () => {
  const handle = () => ({ status: 200, body: "{}", headers: { "X-Thing": "a\nb" } });
  const broken = { ...operations[0]!, path: "/broken", handle };
  const second = { ...surface, operations: [broken] };
  const service = await startTestService("sqlite", {}, {}, { surfaces: [second] });
  try {
    const headers = { "X-Operator": "alice" };
    const response = await service.call("GET", "~/test/broken", { headers });
    expect(response.json).toMatchObject({ code: "internal_error", status: 500 });
    const [bug] = service.logged.filter((line) => line.includes('"bug"'));
    expect(JSON.parse(bug!)).toMatchObject({ requestId: expect.stringMatching(/^req_/) });
  } finally {
    await service.stop();
  }
});
