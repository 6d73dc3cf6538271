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
import { rejectionOf } from "../support/client/rejection.ts";
import { apiKey, errorResponse, ScriptedServer } from "../support/client/scripted-server.ts";
import { StockedService } from "../support/client/stocked-service.ts";

const createClient = (server: ScriptedServer, options: Partial<ClientOptions>) =>
  new PetstoreClient({ baseUrl: server.baseUrl, apiKey, backoffBaseMs: 0, ...options });

test("hooks receive every request, response and retry of a call, in order", async () => {
  await using server = new ScriptedServer();
  const events: [string, RequestEvent | ResponseEvent | RetryEvent][] = [];
  const client = createClient(server, {
    hooks: {
      onRequest: (event) => events.push(["request", event]),
      onResponse: (event) => events.push(["response", event]),
      onRetry: (event) => events.push(["retry", event]),
    },
  });
  server.enqueue(() => errorResponse(503, "unavailable", "Busy", { "x-request-id": "r1" }));
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

test("after a failed connection, onRetry receives the error and onResponse is not called", async () => {
  await using server = new ScriptedServer();
  const received: unknown[] = [];
  const client = createClient(server, {
    fetch: () => Promise.reject(new Error("unplugged")),
    attemptsMax: 2,
    hooks: {
      onResponse: (event) => received.push(event),
      onRetry: ({ error }) => received.push(error),
    },
  });
  await rejectionOf(client.listInventory());
  expect(received).toHaveLength(1);
  expect(isNetworkError(received[0])).toBe(true);
});

describe("onRequest", () => {
  test("can add headers to each attempt, and never receives the key", async () => {
    await using server = new ScriptedServer();
    const seen: string[] = [];
    const client = createClient(server, {
      headers: { "X-Shop": "north" },
      hooks: {
        onRequest: ({ headers, attempt }) => {
          seen.push(JSON.stringify([...headers]));
          headers.set("traceparent", `trace-${attempt}`);
        },
      },
    });
    server.enqueue(() => errorResponse(503, "unavailable", "Busy"));
    await client.updateInventory(1, { quantity: 1 }).catch(() => {});
    expect(server.received.map(({ headers }) => headers.get("traceparent"))).toEqual([
      "trace-1",
      "trace-2",
    ]);
    expect(server.received[0]?.headers.get("x-shop")).toBe("north");
    // The second attempt starts from the caller's headers, without the changes of the first.
    expect(seen[1]).toBe(seen[0]!);
    expect(seen.join()).not.toContain(apiKey);
  });

  test("cannot replace the key: the call rejects and nothing is sent", async () => {
    await using server = new ScriptedServer();
    const hooks = {
      onRequest: ({ headers }: RequestEvent) => headers.set("Authorization", "Bearer other"),
    };
    const error = await rejectionOf(createClient(server, { hooks }).listInventory());
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain("Pass the key as apiKey");
    expect(server.received).toEqual([]);
  });
});

test("an error in a hook rejects its call without a retry, and the next call works", async () => {
  for (const name of ["onRequest", "onResponse", "onRetry"]) {
    await using server = new ScriptedServer();
    let isBroken = true;
    const fail = () => {
      if (isBroken) throw new Error(`${name} broke`);
    };
    const client = createClient(server, { parallelMax: 1, hooks: { [name]: fail } });
    server.enqueue(() => errorResponse(503, "unavailable", "Busy"));
    expect(String(await rejectionOf(client.listInventory()))).toBe(`Error: ${name} broke`);
    expect(server.received).toHaveLength(name === "onRequest" ? 0 : 1);
    isBroken = false;
    expect(await client.listInventory()).toEqual([]);
  }
});

describe("a deprecated operation", () => {
  test("is reported to the hook once, even if its first response is an error", async () => {
    await using stocked = await StockedService.start();
    const notices: DeprecationNotice[] = [];
    const hooks = { onDeprecation: (notice: DeprecationNotice) => notices.push(notice) };
    using session = await stocked.openSession(undefined, { hooks });
    expect(isApiError(await rejectionOf(session.client.getPet(404n)))).toBe(true);
    await session.client.getPet(1n);
    await session.client.listInventory();
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

  test("causes one console warning per operation and client", async () => {
    await using server = new ScriptedServer();
    const warn = spyOn(console, "warn").mockImplementation(() => {});
    try {
      const deprecated = () => new Response("[]", { headers: { deprecation: "true" } });
      server.enqueue(deprecated, deprecated, deprecated);
      const client = createClient(server, {});
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
