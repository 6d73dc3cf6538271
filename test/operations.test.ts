import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyText, scopes } from "../src/domain/keys/keys.ts";
import type { ErrorCode } from "../src/domain/running/errors.ts";
import type { Operation } from "../src/http/pipeline/operation.ts";
import { anEntry } from "./support/audit.ts";
import {
  type Example,
  operationExamples as examples,
  repeating,
} from "./support/operation-examples.ts";
import { operations } from "./support/operations.ts";
import {
  expectCommonHeaders,
  expectError,
  expectUnchanged,
  limitsOf,
  linesOf,
} from "./support/responses.ts";
import {
  type CallOptions,
  startTestService,
  surfaceEngine,
  type TestService,
} from "./support/service.ts";

describe.each([surfaceEngine])("operations on %s", (engine) => {
  let service: TestService;
  let goodKey: string;
  beforeAll(async () => {
    // Hundreds of requests without a valid key come from one address here.
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

  /** A test of what does not depend on how the operation uses the store. One engine is enough for it. */
  const testOnce = (name: string, work: () => Promise<void>) => {
    if (engine === "sqlite") test(name, work);
  };
  const unchanged = <T>(work: () => Promise<T>) => expectUnchanged(service.store, work);

  test("every operation of the table has examples, and nothing else does", () => {
    expect(Object.keys(examples).sort()).toEqual(operations.map(({ id }) => id).sort());
  });

  test("every operation has a scope, a unique id, and a unique method and path", () => {
    for (const operation of operations) expect(scopes).toContain(operation.scope);
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    const places = operations.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(places).size).toBe(operations.length);
  });

  describe.each(operations.map((operation) => [operation.id, operation] as const))(
    "%s",
    (id, operation) => {
      const { good, bad } = examples[id]!;

      /** Every response of the operation has its markers, errors included. */
      const expectMarks = (headers: Headers) => {
        const stability = operation.stability === "stable" ? null : operation.stability;
        expect(headers.get("X-Stability")).toBe(stability);
        expect(headers.has("Deprecation")).toBe(operation.deprecation !== undefined);
        expect(headers.has("Sunset")).toBe(operation.deprecation !== undefined);
      };

      const answersError = async (code: ErrorCode, options: CallOptions, example = good) => {
        const response = await ask(operation, example, options);
        expectError(response, code, linesOf(operation, code));
        expectMarks(response.headers);
        return response;
      };
      const expectRejected = (code: ErrorCode, options: CallOptions) =>
        unchanged(() => answersError(code, options));

      testOnce("without a key it returns 401 with a challenge and changes nothing", async () => {
        const response = await expectRejected("unauthorized", {});
        expect(response.headers.get("WWW-Authenticate")).toBe('Bearer realm="petstore"');
      });

      testOnce("with a key that was never issued it returns 401 and changes nothing", async () => {
        const response = await expectRejected("unauthorized", {
          key: generateKeyText("production"),
        });
        expect(response.headers.get("WWW-Authenticate")).toBe(
          'Bearer realm="petstore", error="invalid_token"',
        );
      });

      testOnce("with malformed credentials it returns 401 and changes nothing", async () => {
        const values = ["Bearer", "Bearer  ", "Bearer x y", `Basic ${goodKey}`, goodKey];
        await unchanged(async () => {
          for (const value of values) {
            await answersError("unauthorized", { headers: { Authorization: value } });
          }
        });
      });

      testOnce("with a revoked key it returns 401 and changes nothing", async () => {
        const key = await service.issueKey();
        expect((await ask(operation, good, { key: key.text })).status).toBe(200);
        await service.store.keys.revokeKey(key.id, service.clock.now(), anEntry);
        await expectRejected("unauthorized", { key: key.text });
      });

      testOnce("with a key without its scope it returns 403 and changes nothing", async () => {
        const others = scopes.filter((scope) => scope !== operation.scope);
        const key = await service.issueKey({ scopes: others });
        await expectRejected("insufficient_scope", { key: key.text });
      });

      testOnce("a key with only its scope is enough", async () => {
        const key = await service.issueKey({ scopes: [operation.scope] });
        expect((await ask(operation, good, { key: key.text })).status).toBe(200);
      });

      testOnce("over the limit it returns 429 with Retry-After and changes nothing", async () => {
        const limits = { perMinute: 1, perDay: 10 };
        const key = await service.issueKey({ plan: "enterprise", limits });
        expect((await ask(operation, good, { key: key.text })).status).toBe(200);
        const response = await expectRejected("rate_limit_exceeded", { key: key.text });
        expect(response.headers.get("X-RateLimit-Remaining")).toBe("0");
        expect(response.headers.get("Retry-After")).toBe("60");
      });

      test("invalid input returns an error and changes nothing", async () => {
        await unchanged(async () => {
          for (const { code, ...example } of bad) {
            await answersError(code, { key: goodKey }, example);
          }
        });
      });

      // The specification lets the last one count.
      const repeated = id === "updateInventory" ? undefined : repeating(good.body);
      testOnce("a repeated field returns an error and changes nothing", async () => {
        if (repeated === undefined) return;
        const example = { ...good, body: repeated };
        const refused = () => answersError("invalid_request", { key: goodKey }, example);
        expect((await unchanged(refused)).text).toContain("must not be repeated");
      });

      test("a valid request succeeds, with JSON and all headers", async () => {
        const response = await ask(operation, good, { key: goodKey });
        expect(response.status).toBe(200);
        expect(response.json).toBeObject();
        expect(response.headers.get("Content-Type")).toBe("application/json");
        expectCommonHeaders(response);
        expectMarks(response.headers);
      });

      testOnce("other methods return 405 with Allow, and 401 without a key", async () => {
        const others = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].filter((method) => {
          const declared = method === "HEAD" ? "GET" : method;
          return !operations.some((one) => one.method === declared && one.path === operation.path);
        });
        await unchanged(async () => {
          for (const method of others) {
            const bare = await service.call(method, good.path);
            expect(bare.status).toBe(401);
            const response = await service.call(method, good.path, { key: goodKey });
            expect(response.status).toBe(405);
            if (method !== "HEAD") expectError(response, "method_not_allowed");
            expect(response.headers.get("Allow")).toContain(operation.method);
            expect(response.headers.get("Allow")).not.toContain(method);
          }
        });
      });
    },
  );

  testOnce("unknown paths return 404 with a key and 401 without, for every method", async () => {
    const paths = ["", "/", "/nothing", "/inventory/1/stock", "/inventory/", "/Inventory"];
    await unchanged(async () => {
      for (const path of paths) {
        for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
          expectError(await service.call(method, path), "unauthorized");
          expectError(await service.call(method, path, { key: goodKey }), "not_found");
        }
      }
    });
  });

  test("an unknown path counts against the limit like any other request", async () => {
    const limits = { perMinute: 1, perDay: 10 };
    const { text: key } = await service.issueKey({ plan: "enterprise", limits });
    expectError(await service.call("GET", "/nothing", { key }), "not_found");
    expectError(await service.call("GET", "/nothing", { key }), "rate_limit_exceeded");
  });

  test("no response shows the limits of another caller, however many requests are in progress", async () => {
    const callers = await Promise.all(
      [7, 50].map(async (perMinute) => {
        const limits = { perMinute, perDay: 1_000 };
        return { perMinute, key: (await service.issueKey({ plan: "enterprise", limits })).text };
      }),
    );
    const seen = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const { perMinute, key } = callers[at % 2]!;
        const response = await service.call("GET", at % 3 === 0 ? "/pets/1" : "/inventory", {
          key,
        });
        const { limit, remaining } = limitsOf(response);
        expect(limit).toBe(perMinute);
        return response.status === 200 ? `${perMinute}: ${remaining}` : "rejected";
      }),
    );
    const admitted = seen.filter((one) => one !== "rejected");
    expect(admitted).toHaveLength(7 + 30);
    expect(new Set(admitted).size).toBe(admitted.length);
  });

  test("no two responses have the same request id", async () => {
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => service.call("GET", "/inventory", { key: goodKey })),
    );
    const ids = responses.map((response) => response.headers.get("X-Request-Id"));
    expect(new Set(ids).size).toBe(50);
  });
});
