import { describe, expect, test } from "bun:test";
import { isApiError, PetstoreClient } from "../../client/src/index.ts";
import { apiKey, ScriptedServer } from "../support/client/scripted-server.ts";

const failureOf = (work: Promise<unknown>) => work.catch((reason: unknown) => reason);
const entry = '{"petId":1,"quantity":3,"status":"sold"}';

describe("a redirect", () => {
  for (const status of [301, 302, 303, 307, 308]) {
    test(`with status ${status} is refused, and neither key nor update reaches the other host`, async () => {
      await using server = new ScriptedServer();
      await using stranger = new ScriptedServer();
      const location = `${stranger.baseUrl}/inventory/1`;
      const redirect = () => new Response(null, { status, headers: { location } });
      server.play(redirect, redirect);
      stranger.play(
        () => new Response(entry),
        () => new Response(`[${entry}]`),
      );
      const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
      const works = [
        () => client.updateInventory(1, { quantity: 3 }),
        () => client.listInventory(),
      ];
      for (const work of works) {
        const error = await failureOf(work());
        expect(isApiError(error) && error).toMatchObject({ code: "unexpected_answer", status });
        expect(String(error)).toContain(`status ${status}`);
        expect(String(error)).toContain(new URL(location).host);
      }
      expect(stranger.received).toEqual([]);
      expect(server.received).toHaveLength(2);
    });
  }

  test("without a usable Location is refused as well", async () => {
    await using server = new ScriptedServer();
    for (const headers of [{}, { location: "http://:bad" }] as Record<string, string>[]) {
      server.play(() => new Response(null, { status: 302, headers }));
      const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
      expect(String(await failureOf(client.listInventory()))).toContain("an unknown host");
    }
    expect(server.received).toHaveLength(2);
  });

  test("to the same host is refused as well: the address is wrong", async () => {
    await using server = new ScriptedServer();
    server.play(() => new Response(null, { status: 308, headers: { location: "/v1/inventory/" } }));
    const client = new PetstoreClient({ baseUrl: server.baseUrl, apiKey });
    const error = await failureOf(client.listInventory());
    expect(String(error)).toContain(new URL(server.baseUrl).host);
    expect(server.received).toHaveLength(1);
  });

  test("that a fetch of one's own has followed is refused: its answer is not believed", async () => {
    await using server = new ScriptedServer();
    await using stranger = new ScriptedServer();
    const location = `${stranger.baseUrl}/inventory`;
    server.play(() => new Response(null, { status: 302, headers: { location } }));
    stranger.play(() => new Response(`[${entry}]`));
    const client = new PetstoreClient({
      baseUrl: server.baseUrl,
      apiKey,
      fetch: (url, init) => fetch(url, { ...init, redirect: "follow" }),
    });
    const error = await failureOf(client.listInventory());
    expect(isApiError(error) && error.code).toBe("unexpected_answer");
    expect(String(error)).toContain(new URL(location).host);
  });
});
