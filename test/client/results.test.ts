import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import assert from "node:assert/strict";
import { isApiError, jsonReplacer, PetstoreClient } from "../../client/src/index.ts";
import { apiErrorCodes } from "../../src/domain/running/errors.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { apiKey, errorResponse, ScriptedServer } from "../support/client/scripted-server.ts";
import { highestId, StockedService } from "../support/client/stocked-service.ts";

let stocked: StockedService;
beforeAll(async () => {
  stocked = await StockedService.start();
});
afterAll(() => stocked[Symbol.asyncDispose]());

describe("withResponse", () => {
  test("returns the response and the value of every operation", async () => {
    using session = await stocked.openSession();
    const { client } = session;
    const list = await client.listInventory().withResponse();
    expect(list.value).toHaveLength(3);
    expect(list.response.status).toBe(200);
    expect(list.response.text).toStartWith('[{"petId":1,');
    expect(list.response.headers.get("x-request-id")).toMatch(/^\S+$/);
    const item = await client.updateInventory(2n, { quantity: 1 }).withResponse();
    const etag = item.response.headers.get("etag") ?? "none";
    expect(item.value).toEqual({ petId: 2n, quantity: 1, status: "pending", etag });
    expect((await client.getPet(1n).withResponse()).response.headers.has("sunset")).toBe(true);
    const page = await client.listOrders({ limit: 1 }).withResponse();
    expect(page.response.headers.get("link")).toContain('rel="next"');
  });

  test("returns the 304 and the cached list while nothing changed", async () => {
    using session = await stocked.openSession();
    const list = await session.client.listInventory();
    const { value, response } = await session.client.listInventory().withResponse();
    expect([response.status, response.text]).toEqual([304, ""]);
    expect(value).toEqual(list);
  });

  test("rejects like the call and leaves no unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", listen);
    try {
      using session = await stocked.openSession();
      const error = await rejectionOf(session.client.getPet(404n).withResponse());
      expect(isApiError(error) && error.code).toBe("not_found");
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", listen);
    }
  });

  test("has a counterpart on errors, error.response", async () => {
    using session = await stocked.openSession();
    const error = await rejectionOf(session.client.getPet(404n));
    assert(isApiError(error));
    expect(error.response?.status).toBe(404);
    expect(JSON.parse(error.response?.text ?? "").message).toBe(error.message);
    expect(Object.keys(error)).not.toContain("response");
  });
});

describe("JSON.stringify", () => {
  test("writes the result of every operation exactly as the service sent it", async () => {
    using session = await stocked.openSession();
    const { client } = session;
    const list = await client.listInventory().withResponse();
    expect(JSON.stringify(list.value)).toBe(list.response.text);
    expect(list.response.text).toContain(`"petId":${highestId},`);
    const pet = await client.getPet(highestId).withResponse();
    expect(JSON.stringify(pet.value)).toBe(pet.response.text);
    const page = await client.listOrders({ limit: 2 }).withResponse();
    expect(JSON.stringify(page.value.orders)).toBe(page.response.text);
    expect(JSON.stringify(page.value)).toEndWith(`"nextAfter":${highestId - 1n}}`);
    expect(JSON.stringify({ entries: list.value.slice(1) })).toContain(String(highestId));
  });

  test("accepts copies with jsonReplacer, and results have no visible toJSON", async () => {
    using session = await stocked.openSession();
    const item = (await session.client.listInventory()).at(-1);
    const copy = { ...item, name: "Rex" };
    expect(() => JSON.stringify(copy)).toThrow();
    expect(JSON.stringify(copy, jsonReplacer)).toContain(`"petId":${highestId},`);
    assert.deepStrictEqual(item, { petId: highestId, quantity: 7, status: "sold" });
    expect(Object.keys(item ?? {})).toEqual(["petId", "quantity", "status"]);
    expect(structuredClone(item)).toEqual({ petId: highestId, quantity: 7, status: "sold" });
  });
});

describe("responses of a later version of the service:", () => {
  const createClient = (server: ScriptedServer) =>
    new PetstoreClient({ baseUrl: server.baseUrl, apiKey });

  test("unknown fields are kept", async () => {
    await using server = new ScriptedServer();
    const entry = '{"petId":9223372036854775807,"shelf":{"row":3},"quantity":1,"status":"sold"}';
    server.enqueue(
      () => new Response(`[${entry}]`),
      () => new Response(entry),
    );
    const client = createClient(server);
    const expected = { petId: highestId, shelf: { row: 3 }, quantity: 1, status: "sold" };
    const list: unknown = await client.listInventory();
    expect(list).toEqual([expected]);
    expect(JSON.stringify(list)).toBe(`[${entry}]`);
    const item: unknown = await client.updateInventory(1, { quantity: 1 });
    expect(item).toEqual({ ...expected, etag: "" });
  });

  test("an unknown error code is kept", async () => {
    await using server = new ScriptedServer();
    server.enqueue(() =>
      Response.json(
        { code: "shelf_locked", message: "Locked", status: 423, until: "noon" },
        { status: 423 },
      ),
    );
    const error = await rejectionOf(createClient(server).listInventory());
    assert(isApiError(error));
    expect(error).toMatchObject({ code: "shelf_locked", status: 423, message: "Locked" });
    expect(JSON.parse(error.response?.text ?? "").until).toBe("noon");
  });

  test("every known error code is kept", async () => {
    await using server = new ScriptedServer();
    for (const code of apiErrorCodes) {
      server.enqueue(() => errorResponse(400, code, "No"));
      const error = await rejectionOf(createClient(server).listInventory());
      expect(isApiError(error) && error.code).toBe(code);
    }
  });
});
