import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inspect } from "node:util";
import manifest from "../../client/package.json";
import { isApiError, version } from "../../client/src/index.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { highestId, orderIds, StockedService } from "../support/client/stocked-service.ts";

let stocked: StockedService;
beforeAll(async () => {
  stocked = await StockedService.start();
});
afterAll(() => stocked[Symbol.asyncDispose]());

describe("listInventory", () => {
  test("returns every entry with its exact id, including the smallest and largest 64-bit ids", async () => {
    await using other = await StockedService.start();
    const edges = [-(2n ** 63n), -(2n ** 53n) - 1n, 2n ** 53n - 1n, 2n ** 53n + 1n];
    await other.service.addPets(...edges.map((petId) => ({ petId, quantity: 2 ** 53 - 1 })));
    using session = await other.openSession();
    const list = await session.client.listInventory();
    expect(list.map(({ petId }) => petId)).toEqual([
      ...edges.slice(0, 2),
      1n,
      2n,
      ...edges.slice(2),
      highestId,
    ]);
    expect(list[0]).toEqual({ petId: -(2n ** 63n), quantity: 2 ** 53 - 1, status: "available" });
  });

  test("sends the ETag of the cached list and returns the cached entries on 304", async () => {
    using session = await stocked.openSession();
    const list = await session.client.listInventory();
    const again = await session.client.listInventory();
    expect(session.recorder.exchanges.map(({ status }) => status)).toEqual([200, 304]);
    expect(again).toEqual(list);
    expect(again.every((item, at) => item === list[at] && Object.isFrozen(item))).toBe(true);
  });

  test("returns a new array each time, so changing it does not affect other calls", async () => {
    using session = await stocked.openSession();
    const list = await session.client.listInventory();
    const petIds = list.map(({ petId }) => petId);
    list.reverse().pop();
    const cached = await session.client.listInventory();
    expect(cached.map(({ petId }) => petId)).toEqual(petIds);
    cached.length = 0;
    expect(await session.client.listInventory()).toHaveLength(petIds.length);
  });

  test("returns the new list after a change by another client, also to parallel calls", async () => {
    using session = await stocked.openSession();
    using other = await stocked.openSession();
    await session.client.listInventory();
    await other.client.updateInventory(1n, { quantity: 40 });
    const lists = await Promise.all([
      session.client.listInventory(),
      session.client.listInventory(),
    ]);
    expect(lists.map((list) => list[0]?.quantity)).toEqual([40, 40]);
  });
});

describe("updateInventory", () => {
  test("sets the count of a pet with an id above 2^53 and does not change its status", async () => {
    using session = await stocked.openSession();
    const { etag, ...item } = await session.client.updateInventory(highestId, { quantity: 12 });
    expect(item).toEqual({ petId: highestId, quantity: 12, status: "sold" });
    expect(etag).toMatch(/^"[^"]+"$/);
    expect((await session.client.listInventory()).at(-1)).toEqual(item);
    expect(await session.client.getInventory(highestId)).toEqual({ ...item, etag });
  });

  test("accepts a safe integer as id, and the largest possible count", async () => {
    using session = await stocked.openSession();
    const item = await session.client.updateInventory(2, { quantity: Number.MAX_SAFE_INTEGER });
    const quantity = Number.MAX_SAFE_INTEGER;
    expect(item).toMatchObject({ petId: 2n, quantity, status: "pending" });
  });

  test("sends an invalid count to the service, which rejects it and changes nothing", async () => {
    using session = await stocked.openSession();
    const before = await session.client.listInventory();
    for (const quantity of [Number.NaN, -1, 1.5, 2 ** 53]) {
      const error = await rejectionOf(session.client.updateInventory(1, { quantity }));
      expect(isApiError(error) && error).toMatchObject({ code: "invalid_request", status: 400 });
    }
    expect(await session.client.listInventory()).toEqual(before);
  });
});

test("an update whose count is not a number is an error that explains what to pass; nothing is sent", async () => {
  using session = await stocked.openSession();
  for (const update of [undefined, 5, {}, { quantity: "5" }, { quantity: 5n }]) {
    const error = await rejectionOf(
      session.client.updateInventory(1, update as { quantity: number }),
    );
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain("{ quantity: 5 }");
  }
  expect(session.recorder.exchanges).toEqual([]);
});

test("getPet returns the record, and text that looks like a field stays text", async () => {
  using session = await stocked.openSession();
  expect(await session.client.getPet(highestId)).toEqual({
    id: highestId,
    name: 'Says "petId":1',
    category: null,
    photoUrls: [],
    tags: ["calm"],
    status: "sold",
  });
});

describe("orders", () => {
  test("listOrders returns one page and the start of the next", async () => {
    using session = await stocked.openSession();
    const page = await session.client.listOrders({ limit: 2 });
    expect(page.orders[0]).toEqual({
      id: highestId,
      petId: 1n,
      quantity: 2,
      shipDate: null,
      status: "placed",
      complete: false,
    });
    expect(page.orders.map(({ id }) => id)).toEqual(orderIds.slice(0, 2));
    expect(page.nextAfter).toBe(orderIds[1]!);
    const last = await session.client.listOrders({ after: orderIds[3]! });
    expect(last.orders.map(({ id }) => id)).toEqual(orderIds.slice(4));
    expect(last.nextAfter).toBeNull();
  });

  test("eachOrder follows the links to the last page and requests no further page", async () => {
    using session = await stocked.openSession();
    const ids: bigint[] = [];
    for await (const { id } of session.client.eachOrder({ limit: 2 })) ids.push(id);
    expect(ids).toEqual(orderIds);
    expect(session.recorder.exchanges).toHaveLength(3);
  });
});

describe("an error response", () => {
  test("rejects the call without a retry, with code, status, request id and message", async () => {
    using session = await stocked.openSession();
    const error = await rejectionOf(session.client.updateInventory(5, { quantity: 1 }));
    expect(isApiError(error) && error).toMatchObject({
      name: "ApiError",
      code: "not_found",
      status: 404,
      requestId: expect.stringMatching(/^\S+$/),
      message: expect.stringContaining("petId"),
      retryAfter: undefined,
    });
    expect(session.recorder.exchanges).toHaveLength(1);
  });

  test("has the code for an invalid key, a missing scope and an invalid page size", async () => {
    using session = await stocked.openSession();
    const codeOf = async (work: Promise<unknown>) => {
      const error = await rejectionOf(work);
      return isApiError(error) && error.code;
    };
    const unauthorized = session.createClient({ apiKey: "psk_live_wrong" });
    expect(await codeOf(unauthorized.listInventory())).toBe("unauthorized");
    const { text } = await stocked.service.issueKey({ scopes: ["inventory:read"] });
    const reader = session.createClient({ apiKey: text });
    expect(await codeOf(reader.updateInventory(1, { quantity: 1 }))).toBe("insufficient_scope");
    expect(await codeOf(session.client.listOrders({ limit: 1001 }))).toBe("invalid_request");
    expect(session.recorder.exchanges.map(({ status }) => status)).toEqual([401, 403, 400]);
  });

  test("has the code gone after the sunset of the operation", async () => {
    const sunset = Date.UTC(2026, 10, 16);
    await using other = await StockedService.start({
      "pets-sunset": new Date(sunset).toISOString(),
    });
    using session = await other.openSession();
    await session.client.getPet(1n);
    session.clock.advanceTo(sunset);
    const error = await rejectionOf(session.client.getPet(1n));
    expect(isApiError(error) && error).toMatchObject({ code: "gone", status: 410 });
  });
});

describe("a client", () => {
  test("sends only headers that the service allows, its version, and the key as a bearer token", async () => {
    using session = await stocked.openSession();
    const client = session.createClient({ baseUrl: new URL(`${stocked.service.baseUrl}/`) });
    await client.listInventory();
    await client.listInventory();
    const { etag } = await client.updateInventory(1, { quantity: 1 });
    await client.updateInventory(1, { quantity: 1 }, { ifMatch: etag, reason: "é" });
    const names = session.recorder.exchanges.flatMap(({ sent }) => [...sent.keys()]);
    expect(new Set(names)).toEqual(
      new Set([
        "accept",
        "authorization",
        "if-none-match",
        "content-type",
        "idempotency-key",
        "if-match",
        "x-change-reason",
        "user-agent",
      ]),
    );
    expect(session.recorder.exchanges[0]).toMatchObject({ method: "GET", path: "/v1/inventory" });
    const sent = session.recorder.exchanges[0]?.sent;
    expect(sent?.get("authorization")).toBe(`Bearer ${session.apiKey}`);
    expect(sent?.get("user-agent")).toBe(`petstore-inventory-client/${manifest.version}`);
    expect(version).toBe(manifest.version);
  });

  test("rejects an id that may be rounded or exceeds 64 bits, and sends nothing", async () => {
    using session = await stocked.openSession();
    const text = "7" as unknown as number;
    for (const id of [2 ** 53, 1.5, Number.NaN, 2n ** 63n, -(2n ** 63n) - 1n, text]) {
      const error = await rejectionOf(session.client.updateInventory(id, { quantity: 1 }));
      expect(error).toBeInstanceOf(RangeError);
      expect(String(error)).toContain("Pass a bigint such as 7n");
    }
    expect(session.recorder.exchanges).toEqual([]);
  });

  test("does not show its key when it is logged", async () => {
    using session = await stocked.openSession();
    await session.client.listInventory();
    expect(inspect(session.client, { depth: 9, showHidden: true })).not.toContain(session.apiKey);
  });
});
