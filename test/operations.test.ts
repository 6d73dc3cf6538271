import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ErrorCode } from "../src/domain/errors.ts";
import { generateKeyText, scopes } from "../src/domain/keys.ts";
import type { Operation } from "../src/http/operation.ts";
import { expectCommonHeaders, expectError, expectUnchanged, limitsOf } from "./support/answers.ts";
import { operations } from "./support/operations.ts";
import {
  type CallOptions,
  engines,
  startTestService,
  type TestService,
} from "./support/service.ts";

/** A request an operation accepts, and requests it must refuse, by operation id. */
interface Examples {
  readonly good: Example;
  readonly bad: readonly (Example & { readonly code: ErrorCode })[];
}

interface Example {
  readonly path: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

const good = '{"quantity":4}';
const examples: Record<string, Examples> = {
  // Nothing can be wrong with this one: it takes no parameter and no body.
  listInventory: { good: { path: "/inventory" }, bad: [] },
  updateInventory: {
    good: { path: "/inventory/1", body: good },
    bad: [
      { path: "/inventory/one", body: good, code: "invalid_request" },
      { path: "/inventory/01", body: good, code: "invalid_request" },
      { path: "/inventory/9223372036854775808", body: good, code: "invalid_request" },
      { path: "/inventory/404", body: good, code: "not_found" },
      { path: "/inventory/1", code: "invalid_request" },
      { path: "/inventory/1", body: "{}", code: "invalid_request" },
      { path: "/inventory/1", body: '{"quantity":-1}', code: "invalid_request" },
      { path: "/inventory/1", body: '{"quantity":', code: "invalid_request" },
      { path: "/inventory/1", body: " ".repeat(65_537), code: "payload_too_large" },
      {
        path: "/inventory/1",
        body: good,
        headers: { "Content-Type": "text/plain" },
        code: "unsupported_media_type",
      },
    ],
  },
  getPet: {
    good: { path: "/pets/1" },
    bad: [
      { path: "/pets/+1", code: "invalid_request" },
      { path: "/pets/404", code: "not_found" },
    ],
  },
  listOrders: {
    good: { path: "/store/orders" },
    bad: [
      { path: "/store/orders?limit=0", code: "invalid_request" },
      { path: "/store/orders?limit=1001", code: "invalid_request" },
      { path: "/store/orders?limit=1&limit=2", code: "invalid_request" },
      { path: "/store/orders?after=x", code: "invalid_request" },
    ],
  },
};

describe.each(engines)("operations on %s", (engine) => {
  let service: TestService;
  let goodKey: string;
  beforeAll(async () => {
    // Hundreds of requests without a good key come from one address here.
    service = await startTestService(engine, { "address-per-minute": "100000" });
    goodKey = (await service.issueKey()).text;
    await service.addPets({ petId: 1n, quantity: 3 }, { petId: 2n, status: "sold" });
  });
  afterAll(() => service.stop());

  const ask = (operation: Operation, example: Example, options: CallOptions = {}) =>
    service.call(operation.method, example.path, {
      ...options,
      ...(example.body === undefined ? {} : { body: example.body }),
      headers: { ...example.headers, ...options.headers },
    });

  test("every operation of the table has its examples here, and no other", () => {
    expect(Object.keys(examples).sort()).toEqual(operations.map(({ id }) => id).sort());
  });

  test("every operation has a scope, and none shares its id or its place with another", () => {
    for (const operation of operations) expect(scopes).toContain(operation.scope);
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    const places = operations.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(places).size).toBe(operations.length);
  });

  describe.each(operations.map((operation) => [operation.id, operation] as const))(
    "%s",
    (id, operation) => {
      const { good, bad } = examples[id]!;

      /** Every answer of the operation, refusals too, says what it is. */
      const expectMarks = (headers: Headers) => {
        const stability = operation.stability === "stable" ? null : operation.stability;
        expect(headers.get("X-Stability")).toBe(stability);
        expect(headers.has("Deprecation")).toBe(operation.deprecation !== undefined);
        expect(headers.has("Sunset")).toBe(operation.deprecation !== undefined);
      };

      const expectRefused = async (code: ErrorCode, options: CallOptions, example = good) => {
        const answer = await expectUnchanged(service.store, () => ask(operation, example, options));
        expectError(answer, code);
        expectMarks(answer.headers);
        return answer;
      };

      test("without a key it refuses, changes nothing and asks for one", async () => {
        const answer = await expectRefused("unauthorized", {});
        expect(answer.headers.get("WWW-Authenticate")).toBe('Bearer realm="petstore"');
      });

      test("with a key that was never issued it refuses and changes nothing", async () => {
        const answer = await expectRefused("unauthorized", { key: generateKeyText("production") });
        expect(answer.headers.get("WWW-Authenticate")).toBe(
          'Bearer realm="petstore", error="invalid_token"',
        );
      });

      test("with something that is no key it refuses and changes nothing", async () => {
        for (const value of ["Bearer", "Bearer  ", "Bearer x y", `Basic ${goodKey}`, goodKey]) {
          await expectRefused("unauthorized", { headers: { Authorization: value } });
        }
      });

      test("with a revoked key it refuses and changes nothing", async () => {
        const key = await service.issueKey();
        expect((await ask(operation, good, { key: key.text })).status).toBe(200);
        await service.store.keys.revokeKey(key.id, service.clock.now());
        await expectRefused("unauthorized", { key: key.text });
      });

      test("with a key that lacks its scope it refuses and changes nothing", async () => {
        const others = scopes.filter((scope) => scope !== operation.scope);
        const key = await service.issueKey({ scopes: others });
        await expectRefused("insufficient_scope", { key: key.text });
      });

      test("its own scope is enough", async () => {
        const key = await service.issueKey({ scopes: [operation.scope] });
        expect((await ask(operation, good, { key: key.text })).status).toBe(200);
      });

      test("over the limit it refuses, changes nothing and says when to return", async () => {
        const limits = { perMinute: 1, perDay: 10 };
        const key = await service.issueKey({ plan: "enterprise", limits });
        expect((await ask(operation, good, { key: key.text })).status).toBe(200);
        const answer = await expectRefused("rate_limit_exceeded", { key: key.text });
        expect(answer.headers.get("X-RateLimit-Remaining")).toBe("0");
        expect(answer.headers.get("Retry-After")).toBe("60");
      });

      test("bad input is refused and changes nothing", async () => {
        for (const { code, ...example } of bad) {
          await expectRefused(code, { key: goodKey }, example);
        }
      });

      test("a good request succeeds, in JSON and with all headers", async () => {
        const answer = await ask(operation, good, { key: goodKey });
        expect(answer.status).toBe(200);
        expect(answer.json).toBeObject();
        expect(answer.headers.get("Content-Type")).toBe("application/json");
        expectCommonHeaders(answer);
        expectMarks(answer.headers);
      });

      test("undeclared methods get 405 with Allow, but only with a key", async () => {
        for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]) {
          const declared = method === "HEAD" ? "GET" : method;
          if (operations.some((one) => one.method === declared && one.path === operation.path)) {
            continue;
          }
          const bare = await service.call(method, good.path);
          expect(bare.status).toBe(401);
          const answer = await expectUnchanged(service.store, () =>
            service.call(method, good.path, { key: goodKey }),
          );
          expect(answer.status).toBe(405);
          if (method !== "HEAD") expectError(answer, "method_not_allowed");
          expect(answer.headers.get("Allow")).toContain(operation.method);
          expect(answer.headers.get("Allow")).not.toContain(method === "HEAD" ? "HEAD" : method);
        }
      });
    },
  );

  test("unknown paths give 404 with a key and 401 without, for every method", async () => {
    const paths = ["", "/", "/nothing", "/inventory/1/history", "/inventory/", "/Inventory"];
    for (const path of paths) {
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        expectError(await service.call(method, path), "unauthorized");
        const answer = await expectUnchanged(service.store, () =>
          service.call(method, path, { key: goodKey }),
        );
        expectError(answer, "not_found");
      }
    }
  });

  test("an unknown path counts against the limit like any other request", async () => {
    const limits = { perMinute: 1, perDay: 10 };
    const { text: key } = await service.issueKey({ plan: "enterprise", limits });
    expectError(await service.call("GET", "/nothing", { key }), "not_found");
    expectError(await service.call("GET", "/nothing", { key }), "rate_limit_exceeded");
  });

  test("no answer shows another caller's limits, however many are under way", async () => {
    const callers = await Promise.all(
      [7, 50].map(async (perMinute) => {
        const limits = { perMinute, perDay: 1_000 };
        return { perMinute, key: (await service.issueKey({ plan: "enterprise", limits })).text };
      }),
    );
    const seen = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const { perMinute, key } = callers[at % 2]!;
        const answer = await service.call("GET", at % 3 === 0 ? "/pets/1" : "/inventory", { key });
        const { limit, remaining } = limitsOf(answer);
        expect(limit).toBe(perMinute);
        return answer.status === 200 ? `${perMinute}: ${remaining}` : "refused";
      }),
    );
    const admitted = seen.filter((one) => one !== "refused");
    expect(admitted).toHaveLength(7 + 30);
    expect(new Set(admitted).size).toBe(admitted.length);
  });

  test("no two answers share a request id", async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => service.call("GET", "/inventory", { key: goodKey })),
    );
    const ids = answers.map((answer) => answer.headers.get("X-Request-Id"));
    expect(new Set(ids).size).toBe(50);
  });
});
