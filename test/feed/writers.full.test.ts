import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openFeed } from "../support/feed.ts";
import { upTo } from "../support/history.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";
import { connectRaw } from "../support/socket.ts";
import { until } from "../support/until.ts";

describe.each([surfaceEngine])("the feed on %s", (engine) => {
  let place: Workspace;
  let service: TestService;
  let key: string;
  beforeAll(async () => {
    place = openWorkspace();
    service = await startTestService(engine);
    key = (await service.issueKey()).text;
    await service.addPets(...upTo(1_000).map((id) => ({ petId: BigInt(id) })));
  });
  afterAll(async () => {
    await service.stop();
    await place.leave();
  });
  const tip = async () => (await service.store.history.readTip()).seq;

  test("sends what another process writes", async () => {
    const feed = await openFeed(service.baseUrl, { key });
    const words = ["pets", "import", "-", "--database", service.databaseUrl];
    const stdin = '{"petId":5001,"name":"Rex"}\n{"petId":5002,"name":"Bo"}\n';
    expect(await place.run(words, { stdin })).toMatchObject({ code: 0 });
    const last = await tip();
    expect(await feed.changes(2)).toEqual([last - 1, last]);
    feed.leave();
  });

  test("sends the 1,000 changes of one commit to every reader, whole and in order", async () => {
    const readers = await Promise.all(upTo(4).map(() => openFeed(service.baseUrl, { key })));
    const start = await tip();
    const changes = upTo(1_000).map((petId) => ({ petId, delta: 1 }));
    const body = JSON.stringify({ changes });
    expect((await service.call("POST", "/changes", { key, body })).status).toBe(200);
    for (const reader of readers) {
      expect(await reader.changes(1_000)).toEqual(upTo(start + 1_000, start + 1));
      reader.leave();
    }
  });
});

test("the feed lets pages of allowed origins send the cursor and read the limits", async () => {
  const service = await startTestService("sqlite", { "cors-origins": "https://shop.example" });
  const { text: key } = await service.issueKey();
  const origin = { Origin: "https://shop.example" };
  const preflight = await service.call("OPTIONS", "/changes", {
    headers: {
      ...origin,
      "Access-Control-Request-Method": "GET",
      "Access-Control-Request-Headers": "authorization, last-event-id",
    },
  });
  const allowed = preflight.headers.get("Access-Control-Allow-Headers")!.toLowerCase();
  expect(allowed.split(", ")).toContain("last-event-id");
  const feed = await openFeed(service.baseUrl, { key, headers: origin });
  expect(feed.headers.get("Access-Control-Allow-Origin")).toBe("https://shop.example");
  const exposed = feed.headers.get("Access-Control-Expose-Headers")!.split(", ");
  for (const name of ["X-RateLimit-Remaining", "Retry-After", "X-Request-Id"]) {
    expect(exposed).toContain(name);
  }
  expect(feed.headers.get("Vary")!.split(", ")).toEqual(["Accept", "Origin"]);
  feed.leave();
  await service.stop();
});

test("a write through one instance is sent by the other", async () => {
  const first = await startTestService("postgres");
  const second = await startTestService("postgres", { database: first.databaseUrl });
  const { text: key } = await first.issueKey();
  await first.addPets({ petId: 1n });
  const feeds = await Promise.all(
    [first, second].map(({ baseUrl }) => openFeed(baseUrl, { key, query: "?after=0" })),
  );
  for (let round = 1; round <= 6; round++) {
    const writer = round % 2 === 0 ? first : second;
    const body = JSON.stringify({ quantity: round });
    expect((await writer.call("PATCH", "/inventory/1", { key, body })).status).toBe(200);
  }
  for (const feed of feeds) expect(await feed.changes(7)).toEqual(upTo(7));
  const ids = feeds.map(({ events }) => events.filter(({ kind }) => kind === "change"));
  expect(ids[0]).toEqual(ids[1]!);
  // A cursor of one instance is valid on the other.
  const cursor = ids[0]![3]!.id;
  const moved = await openFeed(second.baseUrl, { key, headers: { "Last-Event-ID": cursor } });
  expect(await moved.changes(3)).toEqual([5, 6, 7]);
  for (const service of [first, second]) await service.stop();
});

test("a client that resets or half-closes its connection frees its place", async () => {
  const service = await startTestService("sqlite", { "streams-per-key": "1" });
  for (const leave of ["abort", "end"] as const) {
    // The stream that shows that the place is free takes it for a moment.
    const { text: key } = await service.issueKey();
    const head = `Host: shop\r\nAuthorization: Bearer ${key}\r\nAccept: text/event-stream`;
    const client = await connectRaw(service.baseUrl);
    client.send(`GET /v1/changes HTTP/1.1\r\n${head}\r\n\r\n`);
    expect((await client.answer()).status).toBe(200);
    const status = async () => {
      const headers = { Accept: "text/event-stream" };
      return (await service.call("GET", "/changes", { key, headers })).status;
    };
    expect(await status()).toBe(429);
    client[leave]();
    await until(async () => (await status()) === 200, 5_000, `its place is not free (${leave})`);
  }
  await service.stop();
});
