import { describe, expect, test } from "bun:test";
import { inspect } from "node:util";
import { isApiError, PetstoreClient } from "../../client/src/index.ts";
import { apiKey, refuse, ScriptedService } from "./service.ts";

function connect(service: ScriptedService): PetstoreClient {
  return new PetstoreClient({ baseUrl: service.baseUrl, apiKey, backoffBaseMs: 0 });
}

const failureOf = (work: Promise<unknown>) => work.catch((reason: unknown) => reason);

describe("listInventory", () => {
  test("gives every entry with its exact id", async () => {
    await using service = new ScriptedService();
    expect(await connect(service).listInventory()).toEqual([
      { petId: 1n, quantity: 0, status: "available" },
      { petId: 2n, quantity: 1, status: "available" },
      { petId: 9223372036854775807n, quantity: 7, status: "available" },
    ]);
  });

  test("sends the ETag it kept, and gives the same frozen list on 304", async () => {
    await using service = new ScriptedService();
    const client = connect(service);
    const list = await client.listInventory();
    expect(await client.listInventory()).toBe(list);
    expect(service.received.map(({ headers }) => headers.get("if-none-match"))).toEqual([
      null,
      '"epoch-1"',
    ]);
    expect(Object.isFrozen(list) && list.every(Object.isFrozen)).toBe(true);
  });

  test("gives the new list after a change, also to calls in parallel", async () => {
    await using service = new ScriptedService();
    const client = connect(service);
    await client.listInventory();
    await client.updateInventory(1n, { quantity: 40 });
    const lists = await Promise.all([client.listInventory(), client.listInventory()]);
    expect(lists.map((list) => list[0]?.quantity)).toEqual([40, 40]);
  });

  test("refuses a body that breaks the contract, and names the field", async () => {
    await using service = new ScriptedService();
    const client = connect(service);
    const bodies = {
      "<html></html>": "Not JSON|JSON",
      "{}": "not an array",
      "[null]": "not an object",
      '[{"petId":"1","quantity":1,"status":"sold"}]': "petId is not an integer",
      '[{"petId":1.5,"quantity":1,"status":"sold"}]': "petId is not an integer",
      '[{"petId":1,"quantity":1e300,"status":"sold"}]': "quantity is not an integer",
      '[{"petId":1,"quantity":1,"status":"lost"}]': "status is not one of",
    };
    for (const [body, reason] of Object.entries(bodies)) {
      service.interject(() => new Response(body));
      const error = await failureOf(client.listInventory());
      expect(isApiError(error) && error).toMatchObject({ code: "unexpected_answer", status: 200 });
      expect(String(error)).toMatch(new RegExp(reason));
    }
  });
});

describe("updateInventory", () => {
  test("sets the count of a pet whose id no number can hold", async () => {
    await using service = new ScriptedService();
    const item = await connect(service).updateInventory(9223372036854775807n, { quantity: 12 });
    expect(item).toEqual({ petId: 9223372036854775807n, quantity: 12, status: "available" });
    expect(service.received[0]).toMatchObject({
      method: "PATCH",
      path: "/v1/inventory/9223372036854775807",
      body: '{"quantity":12}',
    });
  });

  test("sends one Idempotency-Key over all attempts of a call, and another for the next", async () => {
    await using service = new ScriptedService();
    const client = connect(service);
    const busy = () => refuse(503, "unavailable", "Busy");
    service.interject(busy, busy);
    await client.updateInventory(1, { quantity: 3 });
    await client.updateInventory(1, { quantity: 3 });
    const [first, second, third, next] = service.received.map(({ headers }) =>
      headers.get("idempotency-key"),
    );
    expect(first).toMatch(
      /^"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"$/,
    );
    expect([second, third]).toEqual([first, first]);
    expect(next).not.toBe(first);
  });

  test("with attemptsMax 1 is sent once, whatever happens", async () => {
    await using service = new ScriptedService();
    service.interject(() => refuse(503, "unavailable", "Busy"));
    const error = await failureOf(
      connect(service).updateInventory(1, { quantity: 3 }, { attemptsMax: 1 }),
    );
    expect(isApiError(error) && error.code).toBe("unavailable");
    expect(service.received).toHaveLength(1);
  });

  test("leaves the judgement of a count to the service", async () => {
    await using service = new ScriptedService();
    const error = await failureOf(connect(service).updateInventory(1, { quantity: Number.NaN }));
    expect(isApiError(error) && error.code).toBe("invalid_request");
  });

  test("refuses an id that was rounded or is past 64 bits, and sends nothing", async () => {
    await using service = new ScriptedService();
    const client = connect(service);
    for (const id of [2 ** 53, 1.5, Number.NaN, 2n ** 63n, -(2n ** 63n) - 1n]) {
      expect(await failureOf(client.updateInventory(id, { quantity: 1 }))).toBeInstanceOf(
        RangeError,
      );
    }
    expect(service.received).toHaveLength(0);
  });
});

test("getPet gives the record, and text that looks like a field stays text", async () => {
  await using service = new ScriptedService();
  expect(await connect(service).getPet(9223372036854775807n)).toEqual({
    id: 9223372036854775807n,
    name: 'Says "petId":1',
    category: null,
    photoUrls: [],
    tags: ["calm"],
    status: "sold",
  });
});

describe("orders", () => {
  test("listOrders gives one page and where the next begins", async () => {
    await using service = new ScriptedService({ orders: 5 });
    const client = connect(service);
    const page = await client.listOrders({ limit: 2 });
    expect(page.orders.map(({ id }) => id)).toEqual([9223372036854775807n, 9223372036854775806n]);
    expect(page.nextAfter).toBe(9223372036854775806n);
    expect(await client.listOrders({ after: 9223372036854775804n })).toMatchObject({
      orders: [{ id: 9223372036854775803n }],
      nextAfter: null,
    });
  });

  test("eachOrder follows the links to the end", async () => {
    await using service = new ScriptedService({ orders: 5 });
    const ids: bigint[] = [];
    for await (const { id } of connect(service).eachOrder({ limit: 2 })) ids.push(id);
    expect(ids).toHaveLength(5);
    expect(ids.at(-1)).toBe(9223372036854775803n);
    expect(service.received).toHaveLength(3);
  });

  test("never send the key to an address that came in a link", async () => {
    await using service = new ScriptedService();
    await using stranger = new ScriptedService();
    const link = `<${stranger.baseUrl}/store/orders?after=9>; title="a, b"; rel="prev next"`;
    service.interject(() => new Response("[]", { headers: { link } }));
    for await (const _ of connect(service).eachOrder()) break;
    expect(stranger.received).toHaveLength(0);
    expect(service.received[1]?.path).toBe("/v1/store/orders?after=9");
  });
});

describe("a client", () => {
  test("sends only headers that a page may set, and the key as bearer", async () => {
    await using service = new ScriptedService();
    const sent: string[] = [];
    const client = new PetstoreClient({
      baseUrl: new URL(`${service.baseUrl}/`),
      apiKey,
      fetch: (url, init) => {
        sent.push(...Object.keys(init.headers as object));
        return fetch(url, init);
      },
    });
    await client.listInventory();
    await client.listInventory();
    await client.updateInventory(1, { quantity: 1 });
    expect(new Set(sent)).toEqual(
      new Set(["Accept", "Authorization", "If-None-Match", "Content-Type", "Idempotency-Key"]),
    );
    expect(service.received[0]?.headers.get("authorization")).toBe(`Bearer ${apiKey}`);
    expect(service.received[0]?.path).toBe("/v1/inventory");
  });

  test("shows its key to no log", async () => {
    await using service = new ScriptedService();
    const client = connect(service);
    await client.listInventory();
    expect(inspect(client, { depth: 9, showHidden: true })).not.toContain(apiKey);
  });

  test("refuses options that cannot work", () => {
    const baseUrl = "http://127.0.0.1:1/v1";
    const make = (options: object) => () => new PetstoreClient({ baseUrl, apiKey, ...options });
    expect(make({ apiKey: "" })).toThrow("apiKey");
    expect(make({ apiKey: "psk_live_secret\n" })).not.toThrow("secret");
    expect(make({ apiKey: "psk_live_secret\n" })).toThrow("apiKey");
    expect(make({ baseUrl: "ftp://host/v1" })).toThrow("baseUrl");
    expect(make({ baseUrl: "http://host/v1?x=1" })).toThrow("baseUrl");
    expect(make({ attemptsMax: 0 })).toThrow("attemptsMax");
    expect(make({ timeoutMs: Number.NaN })).toThrow("timeoutMs");
  });
});
