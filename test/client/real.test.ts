import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inspect } from "node:util";
import manifest from "../../client/package.json";
import { isApiError, version } from "../../client/src/index.ts";
import { highestId, orderIds, Shop } from "../support/client/shop.ts";

const failureOf = (work: Promise<unknown>) => work.catch((reason: unknown) => reason);

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
afterAll(() => shop[Symbol.asyncDispose]());

describe("listInventory", () => {
  test("gives every entry with its exact id, to the edges of 64 bits", async () => {
    await using other = await Shop.open();
    const edges = [-(2n ** 63n), -(2n ** 53n) - 1n, 2n ** 53n - 1n, 2n ** 53n + 1n];
    await other.service.addPets(...edges.map((petId) => ({ petId, quantity: 2 ** 53 - 1 })));
    using it = await other.enter();
    const list = await it.client.listInventory();
    expect(list.map(({ petId }) => petId)).toEqual([
      ...edges.slice(0, 2),
      1n,
      2n,
      ...edges.slice(2),
      highestId,
    ]);
    expect(list[0]).toEqual({ petId: -(2n ** 63n), quantity: 2 ** 53 - 1, status: "available" });
  });

  test("sends the ETag it kept, and gives the kept entries on 304", async () => {
    using it = await shop.enter();
    const list = await it.client.listInventory();
    const again = await it.client.listInventory();
    expect(it.traffic.exchanges.map(({ status }) => status)).toEqual([200, 304]);
    expect(again).toEqual(list);
    expect(again.every((item, at) => item === list[at] && Object.isFrozen(item))).toBe(true);
  });

  test("gives an array of one's own: what is done to it shows in no other call", async () => {
    using it = await shop.enter();
    const list = await it.client.listInventory();
    const petIds = list.map(({ petId }) => petId);
    list.reverse().pop();
    const kept = await it.client.listInventory();
    expect(kept.map(({ petId }) => petId)).toEqual(petIds);
    kept.length = 0;
    expect(await it.client.listInventory()).toHaveLength(petIds.length);
  });

  test("gives the new list after a change by anyone, also to calls in parallel", async () => {
    using it = await shop.enter();
    using other = await shop.enter();
    await it.client.listInventory();
    await other.client.updateInventory(1n, { quantity: 40 });
    const lists = await Promise.all([it.client.listInventory(), it.client.listInventory()]);
    expect(lists.map((list) => list[0]?.quantity)).toEqual([40, 40]);
  });
});

describe("updateInventory", () => {
  test("sets the count of a pet whose id no number can hold, and leaves its status", async () => {
    using it = await shop.enter();
    const item = await it.client.updateInventory(highestId, { quantity: 12 });
    expect(item).toEqual({ petId: highestId, quantity: 12, status: "sold" });
    expect((await it.client.listInventory()).at(-1)).toEqual(item);
  });

  test("takes a safe integer for an id, and counts up to the largest there is", async () => {
    using it = await shop.enter();
    const item = await it.client.updateInventory(2, { quantity: Number.MAX_SAFE_INTEGER });
    expect(item).toEqual({ petId: 2n, quantity: Number.MAX_SAFE_INTEGER, status: "pending" });
  });

  test("leaves the judgement of a count to the service, which then changes nothing", async () => {
    using it = await shop.enter();
    const before = await it.client.listInventory();
    for (const quantity of [Number.NaN, -1, 1.5, 2 ** 53]) {
      const error = await failureOf(it.client.updateInventory(1, { quantity }));
      expect(isApiError(error) && error).toMatchObject({ code: "invalid_request", status: 400 });
    }
    expect(await it.client.listInventory()).toEqual(before);
  });
});

test("an update without a number for its count says what to pass, and sends nothing", async () => {
  using it = await shop.enter();
  for (const update of [undefined, 5, {}, { quantity: "5" }, { quantity: 5n }]) {
    const error = await failureOf(it.client.updateInventory(1, update as { quantity: number }));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain("{ quantity: 5 }");
  }
  expect(it.traffic.exchanges).toEqual([]);
});

test("getPet gives the record, and text that looks like a field stays text", async () => {
  using it = await shop.enter();
  expect(await it.client.getPet(highestId)).toEqual({
    id: highestId,
    name: 'Says "petId":1',
    category: null,
    photoUrls: [],
    tags: ["calm"],
    status: "sold",
  });
});

describe("orders", () => {
  test("listOrders gives one page and where the next begins", async () => {
    using it = await shop.enter();
    const page = await it.client.listOrders({ limit: 2 });
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
    const last = await it.client.listOrders({ after: orderIds[3]! });
    expect(last.orders.map(({ id }) => id)).toEqual(orderIds.slice(4));
    expect(last.nextAfter).toBeNull();
  });

  test("eachOrder follows the links to the end, and asks for no page more", async () => {
    using it = await shop.enter();
    const ids: bigint[] = [];
    for await (const { id } of it.client.eachOrder({ limit: 2 })) ids.push(id);
    expect(ids).toEqual(orderIds);
    expect(it.traffic.exchanges).toHaveLength(3);
  });
});

describe("a refusal", () => {
  test("is given at once, with code, status, request id and message", async () => {
    using it = await shop.enter();
    const error = await failureOf(it.client.updateInventory(5, { quantity: 1 }));
    expect(isApiError(error) && error).toMatchObject({
      name: "ApiError",
      code: "not_found",
      status: 404,
      requestId: expect.stringMatching(/^\S+$/),
      message: expect.stringContaining("petId"),
      retryAfter: undefined,
    });
    expect(it.traffic.exchanges).toHaveLength(1);
  });

  test("says what is wrong with a key, and with a page", async () => {
    using it = await shop.enter();
    const codeOf = async (work: Promise<unknown>) => {
      const error = await failureOf(work);
      return isApiError(error) && error.code;
    };
    const stranger = it.connect({ apiKey: "psk_live_wrong" });
    expect(await codeOf(stranger.listInventory())).toBe("unauthorized");
    const { text } = await shop.service.issueKey({ scopes: ["inventory:read"] });
    const reader = it.connect({ apiKey: text });
    expect(await codeOf(reader.updateInventory(1, { quantity: 1 }))).toBe("insufficient_scope");
    expect(await codeOf(it.client.listOrders({ limit: 1001 }))).toBe("invalid_request");
    expect(it.traffic.exchanges.map(({ status }) => status)).toEqual([401, 403, 400]);
  });

  test("tells from the sunset on that the operation is gone", async () => {
    const sunset = Date.UTC(2026, 10, 16);
    await using other = await Shop.open({ "pets-sunset": new Date(sunset).toISOString() });
    using it = await other.enter();
    await it.client.getPet(1n);
    it.clock.advanceTo(sunset);
    const error = await failureOf(it.client.getPet(1n));
    expect(isApiError(error) && error).toMatchObject({ code: "gone", status: 410 });
  });
});

describe("a client", () => {
  test("sends only headers that a page may set, its version, and the key as bearer", async () => {
    using it = await shop.enter();
    const client = it.connect({ baseUrl: new URL(`${shop.service.baseUrl}/`) });
    await client.listInventory();
    await client.listInventory();
    await client.updateInventory(1, { quantity: 1 });
    const names = it.traffic.exchanges.flatMap(({ sent }) => [...sent.keys()]);
    expect(new Set(names)).toEqual(
      new Set([
        "accept",
        "authorization",
        "if-none-match",
        "content-type",
        "idempotency-key",
        "user-agent",
      ]),
    );
    expect(it.traffic.exchanges[0]).toMatchObject({ method: "GET", path: "/v1/inventory" });
    const sent = it.traffic.exchanges[0]?.sent;
    expect(sent?.get("authorization")).toBe(`Bearer ${it.apiKey}`);
    expect(sent?.get("user-agent")).toBe(`petstore-inventory-client/${manifest.version}`);
    expect(version).toBe(manifest.version);
  });

  test("refuses an id that was rounded or is past 64 bits, and sends nothing", async () => {
    using it = await shop.enter();
    const text = "7" as unknown as number;
    for (const id of [2 ** 53, 1.5, Number.NaN, 2n ** 63n, -(2n ** 63n) - 1n, text]) {
      const error = await failureOf(it.client.updateInventory(id, { quantity: 1 }));
      expect(error).toBeInstanceOf(RangeError);
      expect(String(error)).toContain("Pass a bigint such as 7n");
    }
    expect(it.traffic.exchanges).toEqual([]);
  });

  test("shows its key to no log", async () => {
    using it = await shop.enter();
    await it.client.listInventory();
    expect(inspect(it.client, { depth: 9, showHidden: true })).not.toContain(it.apiKey);
  });
});
