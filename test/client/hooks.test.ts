import { describe, expect, spyOn, test } from "bun:test";
import {
  type ClientOptions,
  type DeprecationNotice,
  isApiError,
  isNetworkError,
  PetstoreClient,
  type RequestEvent,
  type ResponseEvent,
  type RetryEvent,
} from "../../client/src/index.ts";
import { apiKey, refuse, ScriptedServer } from "../support/client/scripted-server.ts";
import { Shop } from "../support/client/shop.ts";

const failureOf = (work: Promise<unknown>) => work.catch((reason: unknown) => reason);
const connect = (server: ScriptedServer, options: Partial<ClientOptions>) =>
  new PetstoreClient({ baseUrl: server.baseUrl, apiKey, backoffBaseMs: 0, ...options });

test("hooks are told of every request, response and retry of a call, in order", async () => {
  await using server = new ScriptedServer();
  const events: [string, RequestEvent | ResponseEvent | RetryEvent][] = [];
  const client = connect(server, {
    hooks: {
      onRequest: (event) => events.push(["request", event]),
      onResponse: (event) => events.push(["response", event]),
      onRetry: (event) => events.push(["retry", event]),
    },
  });
  server.play(() => refuse(503, "unavailable", "Busy", { "x-request-id": "r1" }));
  await client.listInventory();
  expect(events.map(([name, { attempt }]) => `${name} ${attempt}`)).toEqual([
    "request 1",
    "response 1",
    "retry 1",
    "request 2",
    "response 2",
  ]);
  for (const [, event] of events) {
    expect(event).toMatchObject({
      operation: "listInventory",
      method: "GET",
      url: `${server.baseUrl}/inventory`,
    });
  }
  const [, first, retry, , last] = events.map(([, event]) => event);
  expect(first).toMatchObject({ response: { status: 503, text: expect.stringContaining("Busy") } });
  expect((first as ResponseEvent).response.headers.get("x-request-id")).toBe("r1");
  expect((first as ResponseEvent).durationMs).toBeGreaterThanOrEqual(0);
  expect(retry).toMatchObject({ delayMs: 0, error: { code: "unavailable", requestId: "r1" } });
  expect(last).toMatchObject({ response: { status: 200, text: "[]" } });
});

test("a retry after a failed connection is told with its error, and no response is", async () => {
  await using server = new ScriptedServer();
  const told: unknown[] = [];
  const client = connect(server, {
    fetch: () => Promise.reject(new Error("unplugged")),
    attemptsMax: 2,
    hooks: { onResponse: (event) => told.push(event), onRetry: ({ error }) => told.push(error) },
  });
  await failureOf(client.listInventory());
  expect(told).toHaveLength(1);
  expect(isNetworkError(told[0])).toBe(true);
});

describe("the request hook", () => {
  test("can add headers to each attempt, and never sees the key", async () => {
    await using server = new ScriptedServer();
    const seen: string[] = [];
    const client = connect(server, {
      headers: { "X-Shop": "north" },
      hooks: {
        onRequest: ({ headers, attempt }) => {
          seen.push(JSON.stringify([...headers]));
          headers.set("traceparent", `trace-${attempt}`);
        },
      },
    });
    server.play(() => refuse(503, "unavailable", "Busy"));
    await client.updateInventory(1, { quantity: 1 }).catch(() => {});
    expect(server.received.map(({ headers }) => headers.get("traceparent"))).toEqual([
      "trace-1",
      "trace-2",
    ]);
    expect(server.received[0]?.headers.get("x-shop")).toBe("north");
    // The second attempt begins with the caller's headers, not with what the first one sent.
    expect(seen[1]).toBe(seen[0]!);
    expect(seen.join()).not.toContain(apiKey);
  });

  test("cannot replace the key: the call fails and nothing is sent", async () => {
    await using server = new ScriptedServer();
    const hooks = {
      onRequest: ({ headers }: RequestEvent) => headers.set("Authorization", "Bearer other"),
    };
    const error = await failureOf(connect(server, { hooks }).listInventory());
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain("Pass the key as apiKey");
    expect(server.received).toEqual([]);
  });
});

test("what a hook throws ends its call at once, and the next call works", async () => {
  for (const name of ["onRequest", "onResponse", "onRetry"]) {
    await using server = new ScriptedServer();
    let isBroken = true;
    const fail = () => {
      if (isBroken) throw new Error(`${name} broke`);
    };
    const client = connect(server, { parallelMax: 1, hooks: { [name]: fail } });
    server.play(() => refuse(503, "unavailable", "Busy"));
    expect(String(await failureOf(client.listInventory()))).toBe(`Error: ${name} broke`);
    expect(server.received).toHaveLength(name === "onRequest" ? 0 : 1);
    isBroken = false;
    expect(await client.listInventory()).toEqual([]);
  }
});

describe("a deprecated operation", () => {
  test("is told once to the hook, also when its first answer is a refusal", async () => {
    await using shop = await Shop.open();
    const notices: DeprecationNotice[] = [];
    const hooks = { onDeprecation: (notice: DeprecationNotice) => notices.push(notice) };
    using it = await shop.enter(undefined, { hooks });
    expect(isApiError(await failureOf(it.client.getPet(404n)))).toBe(true);
    await it.client.getPet(1n);
    await it.client.listInventory();
    expect(notices).toEqual([
      {
        operation: "getPet",
        since: new Date("2026-01-01T00:00:00Z"),
        sunset: new Date("2027-12-31T00:00:00Z"),
        message:
          "petstore-inventory-client: getPet is deprecated as of 2026-01-01 and stops working on 2027-12-31",
      },
    ]);
  });

  test("is warned of on the console, once for each operation and client", async () => {
    await using server = new ScriptedServer();
    const warn = spyOn(console, "warn").mockImplementation(() => {});
    try {
      const deprecated = () => new Response("[]", { headers: { deprecation: "true" } });
      server.play(deprecated, deprecated, deprecated);
      const client = connect(server, {});
      await client.listInventory();
      await client.listInventory();
      await client.listOrders();
      expect(warn.mock.calls).toEqual([
        ["petstore-inventory-client: listInventory is deprecated"],
        ["petstore-inventory-client: listOrders is deprecated"],
      ]);
    } finally {
      warn.mockRestore();
    }
  });
});
