import { describe, expect, test } from "bun:test";
import { isApiError, PetstoreClient } from "../../client/src/index.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import { apiKey, ScriptedServer } from "../support/client/scripted-server.ts";

const entry = '{"petId":1,"quantity":3,"status":"sold"}';

describe("a redirect", () => {
  for (const status of [301, 302, 303, 307, 308]) {
    test(`with status ${status} is an error, and neither key nor update reaches the other host`, async () => {
      await using server = new ScriptedServer();
      await using otherHost = new ScriptedServer();
      const location = `${otherHost.baseUrl}/inventory/1`;
      const redirect = () => new Response(null, { status, headers: { location } });
      server.enqueue(redirect, redirect);
      otherHost.enqueue(
        () => new Response(entry),
        () => new Response(`[${entry}]`),
      );
      const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
      const calls = [
        () => client.updateInventory(1, { quantity: 3 }),
        () => client.listInventory(),
      ];
      for (const call of calls) {
        const error = await rejectionOf(call());
        expect(isApiError(error) && error).toMatchObject({ code: "unexpected_answer", status });
        expect(String(error)).toContain(`status ${status}`);
        expect(String(error)).toContain(new URL(location).host);
      }
      expect(otherHost.received).toEqual([]);
      expect(server.received).toHaveLength(2);
    });
  }

  test("without a valid Location is an error", async () => {
    await using server = new ScriptedServer();
    for (const headers of [{}, { location: "http://:bad" }] as Record<string, string>[]) {
      server.enqueue(() => new Response(null, { status: 302, headers }));
      const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
      expect(String(await rejectionOf(client.listInventory()))).toContain("an unknown host");
    }
    expect(server.received).toHaveLength(2);
  });

  test("to the same host is an error", async () => {
    await using server = new ScriptedServer();
    server.enqueue(
      () => new Response(null, { status: 308, headers: { location: "/v1/inventory/" } }),
    );
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
    const error = await rejectionOf(client.listInventory());
    expect(String(error)).toContain(new URL(server.baseUrl).host);
    expect(server.received).toHaveLength(1);
  });

  test("that a custom fetch followed is an error", async () => {
    await using server = new ScriptedServer();
    await using otherHost = new ScriptedServer();
    const location = `${otherHost.baseUrl}/inventory`;
    server.enqueue(() => new Response(null, { status: 302, headers: { location } }));
    otherHost.enqueue(() => new Response(`[${entry}]`));
    const client = new PetstoreClient({
      baseUrl: server.baseUrl,
      apiKey,
      fetch: (url, init) => fetch(url, { ...init, redirect: "follow" }),
    });
    const error = await rejectionOf(client.listInventory());
    expect(isApiError(error) && error.code).toBe("unexpected_answer");
    expect(String(error)).toContain(new URL(location).host);
  });
});
