import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import assert from "node:assert/strict";
import { isApiError, jsonReplacer, PetstoreClient } from "../../client/src/index.ts";
import { errorCodes } from "../../src/domain/errors.ts";
import { apiKey, refuse, ScriptedServer } from "../support/client/scripted-server.ts";
import { highestId, Shop } from "../support/client/shop.ts";

const failureOf = (work: Promise<unknown>) => work.catch((reason: unknown) => reason);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop[Symbol.asyncDispose]());

describe("withResponse", () => {
  test("gives the response beside the value, on every operation", async () => {
    using it = await shop.enter();
    const { client } = it;
    const list = await client.listInventory().withResponse();
    expect(list.value).toHaveLength(3);
    expect(list.response.status).toBe(200);
    expect(list.response.text).toStartWith('[{"petId":1,');
    expect(list.response.headers.get("x-request-id")).toMatch(/^\S+$/);
    const item = await client.updateInventory(2n, { quantity: 1 }).withResponse();
    expect(JSON.stringify(item.value)).toBe(item.response.text);
    expect((await client.getPet(1n).withResponse()).response.headers.has("sunset")).toBe(true);
    const page = await client.listOrders({ limit: 1 }).withResponse();
    expect(page.response.headers.get("link")).toContain('rel="next"');
  });

  test("gives the 304 and the kept list while nothing changed", async () => {
    using it = await shop.enter();
    const list = await it.client.listInventory();
    const { value, response } = await it.client.listInventory().withResponse();
    expect([response.status, response.text]).toEqual([304, ""]);
    expect(value).toEqual(list);
  });

  test("fails as the call does, and leaves no rejection unhandled", async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", listen);
    try {
      using it = await shop.enter();
      const error = await failureOf(it.client.getPet(404n).withResponse());
      expect(isApiError(error) && error.code).toBe("not_found");
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", listen);
    }
  });

  test("is on a refusal too, as the error's response", async () => {
    using it = await shop.enter();
    const error = await failureOf(it.client.getPet(404n));
    assert(isApiError(error));
    expect(error.response?.status).toBe(404);
    expect(JSON.parse(error.response?.text ?? "").message).toBe(error.message);
    expect(Object.keys(error)).not.toContain("response");
  });
});

describe("JSON.stringify", () => {
  test("writes what every operation gives as the service sent it, digit for digit", async () => {
    using it = await shop.enter();
    const { client } = it;
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

  test("takes copies with the replacer, and the results show no trace of it", async () => {
    using it = await shop.enter();
    const item = (await it.client.listInventory()).at(-1);
    const copy = { ...item, name: "Rex" };
    expect(() => JSON.stringify(copy)).toThrow();
    expect(JSON.stringify(copy, jsonReplacer)).toContain(`"petId":${highestId},`);
    assert.deepStrictEqual(item, { petId: highestId, quantity: 7, status: "sold" });
    expect(Object.keys(item ?? {})).toEqual(["petId", "quantity", "status"]);
    expect(structuredClone(item)).toEqual({ petId: highestId, quantity: 7, status: "sold" });
  });
});

describe("what a newer service may send", () => {
  const connect = (server: ScriptedServer) =>
    new PetstoreClient({ baseUrl: server.baseUrl, apiKey });

  test("fields that this client does not know are passed through", async () => {
    await using server = new ScriptedServer();
    const entry = '{"petId":9223372036854775807,"shelf":{"row":3},"quantity":1,"status":"sold"}';
    server.play(
      () => new Response(`[${entry}]`),
      () => new Response(entry),
    );
    const client = connect(server);
    const expected = { petId: highestId, shelf: { row: 3 }, quantity: 1, status: "sold" };
    const list: unknown = await client.listInventory();
    expect(list).toEqual([expected]);
    expect(JSON.stringify(list)).toBe(`[${entry}]`);
    const item: unknown = await client.updateInventory(1, { quantity: 1 });
    expect(item).toEqual(expected);
  });

  test("an error code that this client does not know is kept as it was sent", async () => {
    await using server = new ScriptedServer();
    server.play(() =>
      Response.json(
        { code: "shelf_locked", message: "Locked", status: 423, until: "noon" },
        { status: 423 },
      ),
    );
    const error = await failureOf(connect(server).listInventory());
    assert(isApiError(error));
    expect(error).toMatchObject({ code: "shelf_locked", status: 423, message: "Locked" });
    expect(JSON.parse(error.response?.text ?? "").until).toBe("noon");
  });

  test("every code that the service has today arrives as it is", async () => {
    await using server = new ScriptedServer();
    for (const code of errorCodes) {
      server.play(() => refuse(400, code, "No"));
      const error = await failureOf(connect(server).listInventory());
      expect(isApiError(error) && error.code).toBe(code);
    }
  });
});
