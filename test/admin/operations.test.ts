import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AdminOperation } from "../../src/http/admin/admin-declaration.ts";
import {
  operationExamples as examples,
  prepareExamples,
} from "../support/admin/operation-examples.ts";
import { operations } from "../support/admin/operations.ts";
import { issueOperator, ownPage, signIn } from "../support/admin/operators.ts";
import { type Example, repeating } from "../support/operation-examples.ts";
import { programHere } from "../support/program.ts";
import {
  expectCommonHeaders,
  expectError,
  expectUnchanged,
  linesOf,
} from "../support/responses.ts";
import {
  type CallOptions,
  startTestService,
  surfaceEngine,
  type TestResponse,
  type TestService,
} from "../support/service.ts";

describe.each([surfaceEngine])("operations of the operator API on %s", (engine) => {
  let backupFolder: string;
  let service: TestService;
  let operator: string;
  let apiKey: string;
  beforeAll(async () => {
    // Hundreds of requests without a valid key come from one address here.
    backupFolder = mkdtempSync(join(tmpdir(), "petstore-backups-"));
    const flags = {
      "sign-in-per-minute": "100000",
      "cors-origins": "https://shop.example",
      "backup-folder": backupFolder,
      // Nothing listens on the port of these webhooks.
      "webhooks-allowed-networks": "127.0.0.0/8",
    };
    service = await startTestService(engine, flags, {}, { program: programHere() });
    operator = (await issueOperator(service)).text;
    apiKey = (await service.issueKey()).text;
    await service.addPets({ petId: 1n, quantity: 3 }, { petId: 2n, status: "sold" });
  });
  afterAll(async () => {
    await service.stop();
    rmSync(backupFolder, { recursive: true });
  });

  const send = (
    { method }: AdminOperation,
    { path, body, headers }: Example,
    options: CallOptions = {},
  ) =>
    service.call(method, `~/admin${path}`, {
      ...options,
      ...(body === undefined ? {} : { body }),
      headers: { ...headers, ...options.headers },
    });

  const prepare = (id: string) => prepareExamples(service, id);

  const prepared = async ({ id }: AdminOperation) => (await prepare(id))(examples[id]!.good);

  /** Every change is a row of the ledger or of the audit log. */
  async function unchanged<T>(work: () => Promise<T>): Promise<T> {
    const lastRows = () => service.store.audit.listEntries({}, 1);
    const before = await lastRows();
    const result = await expectUnchanged(service.store, work);
    expect(await lastRows()).toEqual(before);
    return result;
  }

  test("every operation of the table has examples, and nothing else does", () => {
    expect(Object.keys(examples).sort()).toEqual(operations.map(({ id }) => id).sort());
  });

  test("every operation has the scope of a role, a unique id, and a unique method and path", () => {
    for (const { scope, stability, cacheControl } of operations) {
      expect(scope).toStartWith("operator");
      expect([stability, cacheControl]).toEqual(["beta", "no-store"]);
    }
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    const places = operations.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(places).size).toBe(operations.length);
  });

  describe.each(operations.map((operation) => [operation.id, operation] as const))(
    "%s",
    (id, operation) => {
      const { bad } = examples[id]!;

      /** Nothing of the response may be stored. */
      const expectSuccess = (response: TestResponse) => {
        expect(`${id} ${response.status}`).toMatch(/ 20[014]$/);
        expectCommonHeaders(response);
        expect(response.headers.get("Cache-Control")).toStartWith("no-store");
        expect(response.headers.get("X-Stability")).toBe("beta");
      };

      // Some operations start a process, so each succeeds once an engine: with a session on the other.
      if (engine === "postgres") {
        test("succeeds with a key", async () => {
          expectSuccess(await send(operation, await prepared(operation), { key: operator }));
        });
        return;
      }

      // What follows is decided before the store is used, or by what it finds.

      test("invalid input returns an error and changes nothing", async () => {
        const fill = await prepare(id);
        await unchanged(async () => {
          for (const { code, ...sent } of bad) {
            const refused = await send(operation, fill(sent), { key: operator });
            expectError(refused, code, linesOf(operation, code));
          }
        });
      });

      test("a repeated field returns an error and changes nothing", async () => {
        const example = await prepared(operation);
        const body = repeating(example.body);
        if (body === undefined) return;
        const refused = await unchanged(() =>
          send(operation, { ...example, body }, { key: operator }),
        );
        expectError(refused, "invalid_request");
        expect(refused.text).toContain("must not be repeated");
      });

      test("is refused without a valid operator key or session, and changes nothing", async () => {
        const attempts: CallOptions[] = [
          {},
          { key: apiKey },
          { headers: { Authorization: `Basic ${operator}` } },
          { headers: ownPage(`petstore_production=${"a".repeat(43)}`) },
        ];
        const { headers: _, ...example } = await prepared(operation);
        await unchanged(async () => {
          for (const options of attempts) {
            expectError(await send(operation, example, options), "unauthorized");
          }
        });
      });

      test("succeeds with a session, but a page of another origin cannot change anything", async () => {
        const cookie = await signIn(service, operator);
        const headers = { Cookie: cookie, Origin: "https://shop.example" };
        const example = await prepared(operation);
        const foreign = await unchanged(() => send(operation, example, { headers }));
        expect(foreign.headers.has("Access-Control-Allow-Origin")).toBe(false);
        if (operation.method !== "GET") expectError(foreign, "cross_origin");
        const own = id === "startSession" ? { key: operator } : {};
        expectSuccess(await send(operation, example, { ...own, headers: ownPage(cookie) }));
      });

      test("OPTIONS needs no key, other methods return 405, and none has CORS headers", async () => {
        const path = `~/admin${(await prepared(operation)).path}`;
        const preflight = {
          Origin: "https://shop.example",
          "Access-Control-Request-Method": "GET",
        };
        const options = await service.call("OPTIONS", path, { headers: preflight });
        expect([options.status, options.text]).toEqual([204, ""]);
        expect(options.headers.get("Allow")).toContain(operation.method);
        expect([...options.headers.keys()].join()).not.toContain("access-control");
        const put = await service.call("PUT", path, { key: operator });
        expectError(put, "method_not_allowed");
        expectError(await service.call("PUT", path), "unauthorized");
      });

      if (operation.method !== "GET") return;
      test("HEAD has the headers of GET, and no body", async () => {
        const { path, headers = {} } = await prepared(operation);
        const head = await service.call("HEAD", `~/admin${path}`, { key: operator, headers });
        expect([head.status, head.text]).toEqual([200, ""]);
        expect(head.headers.get("Cache-Control")).toStartWith("no-store");
      });
    },
  );

  if (engine === "postgres") return;

  test("unknown paths return 404 with a key and 401 without, for every method", async () => {
    for (const path of ["", "/", "/nothing", "/session/1", "/Session"]) {
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        expectError(await service.call(method, `~/admin${path}`), "unauthorized");
        const found = await service.call(method, `~/admin${path}`, { key: operator });
        expectError(found, "not_found");
        expect(found.headers.get("Cache-Control")).toBe("no-store");
      }
    }
  });
});
