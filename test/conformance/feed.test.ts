import { expect, test } from "bun:test";
import { onEveryEngine } from "../support/conformance.ts";
import { type FeedOptions, openFeed, requestFeed } from "../support/feed.ts";
import { upTo } from "../support/history.ts";
import { expectError, limitsOf } from "../support/responses.ts";
import { setUnit } from "../support/units.ts";
import { until } from "../support/until.ts";

/** More than the streams of any one test, because a closed one may count for a moment. */
const streamsPerKey = 20;
const accept = { Accept: "text/event-stream" };

onEveryEngine(
  "the feed",
  (service) => {
    const tip = async () => (await service().store.history.readTip()).seq;
    const issue = async () => (await service().issueKey()).text;
    const open = async (options: FeedOptions) => openFeed(service().baseUrl, options);
    const patch = async (key: string, petId: number, quantity: number) => {
      const body = JSON.stringify({ quantity });
      const response = await service().call("PATCH", `/inventory/${petId}`, { key, body });
      expect(response.status).toBe(200);
    };

    test("[feed.form] every change is sent as an event soon after it was stored, with the JSON of a page", async () => {
      await service().addPets({ petId: 1n });
      const start = await tip();
      const key = await issue();
      const feed = await open({ key });
      expect(feed.headers.get("Content-Type")).toBe("text/event-stream");
      expect(feed.headers.get("Cache-Control")).toBe("no-cache, no-transform");
      expect(feed.headers.get("X-Accel-Buffering")).toBe("no");
      expect(feed.headers.get("Vary")).toBe("Accept");
      expect(feed.headers.get("X-Stability")).toBe("beta");
      expect(feed.events[0]).toMatchObject({ kind: "heartbeat", seq: start });
      expect(feed.retryMs).toBeWithin(1_000, 3_001);
      for (let quantity = 1; quantity <= 5; quantity++) {
        await patch(key, 1, quantity);
        expect(await feed.changes(1)).toEqual([start + quantity]);
      }
      const changes = feed.events.filter(({ kind }) => kind === "change");
      const page = await service().call("GET", `/changes?after=${start}`, { key });
      expect(`[${changes.map(({ text }) => text).join()}]`).toBe(page.text);
      feed.leave();
    });

    test("[feed.accept] only a client that prefers text/event-stream to JSON gets the feed", async () => {
      const key = await issue();
      for (const [value, type] of [
        [undefined, "application/json"],
        ["*/*", "application/json"],
        ["text/*", "application/json"],
        ["application/json", "application/json"],
        ["application/json, text/event-stream", "application/json"],
        ["text/event-stream;q=0", "application/json"],
        ["text/event-stream", "text/event-stream"],
        ["TEXT/Event-Stream; q=0.3, */*", "text/event-stream"],
        ["text/event-stream, application/json;q=0.9", "text/event-stream"],
      ] as const) {
        const headers: Record<string, string> = value === undefined ? {} : { Accept: value };
        const { headers: sent } = await service().call("HEAD", "/changes", { key, headers });
        expect([value, sent.get("Content-Type"), sent.get("Vary")]).toEqual([
          value,
          type,
          "Accept",
        ]);
      }
    });

    test("[feed.start] the feed starts now, after a row, or after the cursor of any event; Last-Event-ID wins", async () => {
      await service().addPets(...upTo(4).map((id) => ({ petId: BigInt(100 + id) })));
      const last = await tip();
      const key = await issue();
      const first = await open({ key, query: "?after=0" });
      expect(first.events[0]).toMatchObject({ kind: "heartbeat", seq: 0 });
      expect(await first.changes(last)).toEqual(upTo(last));
      first.leave();
      const cursors = first.events.filter(({ kind }) => kind === "change").map(({ id }) => id);
      for (const options of [
        { query: `?after=${last - 2}` },
        { query: `?after=${cursors[last - 3]}` },
        { headers: { "Last-Event-ID": cursors[last - 3]! } },
        { query: "?after=0", headers: { "Last-Event-ID": cursors[last - 3]! } },
        { query: `?after=${last - 2}`, headers: { "Last-Event-ID": "" } },
      ]) {
        const feed = await open({ key, ...options });
        expect(feed.events[0]).toMatchObject({ kind: "heartbeat", seq: last - 2 });
        expect(await feed.changes(2)).toEqual([last - 1, last]);
        feed.leave();
      }
      const zero = await open({ key, headers: { "Last-Event-ID": first.events[0]!.id } });
      expect(await zero.changes(2)).toEqual([1, 2]);
      zero.leave();
    });

    test("[feed.since] since is where the feed starts, unless a cursor is later", async () => {
      await service().addPets({ petId: 201n });
      service().clock.advance(10_000);
      const since = new Date(service().clock.now()).toISOString();
      await service().addPets({ petId: 202n }, { petId: 203n });
      const last = await tip();
      const key = await issue();
      const feed = await open({ key, query: `?after=0&since=${since}` });
      expect(await feed.changes(2)).toEqual([last - 1, last]);
      const alone = await open({ key, query: `?since=${since}` });
      expect(await alone.changes(2)).toEqual([last - 1, last]);
      const later = await open({ key, query: `?after=${last - 1}&since=${since}` });
      expect(await later.changes(1)).toEqual([last]);
      for (const one of [feed, alone, later]) one.leave();
    });

    test("[feed.since-later] since in the future means now, and a stream that is resumed misses nothing", async () => {
      const key = await issue();
      const last = await tip();
      const since = new Date(service().clock.now() + 60_000).toISOString();
      const both = await Promise.all(
        [`?since=${since}`, `?after=0&since=${since}`].map((query) => open({ key, query })),
      );
      const cursor = (await both[0]!.nextOf("heartbeat")).id;
      await service().addPets({ petId: 211n });
      const headers = { "Last-Event-ID": cursor };
      const resumed = await open({ key, query: `?since=${since}`, headers });
      for (const feed of [...both, resumed]) {
        expect(await feed.changes(1)).toEqual([last + 1]);
        feed.leave();
      }
    });

    test("[feed.resume] a cursor is valid after a restart, and nothing is sent twice or left out", async () => {
      const key = await issue();
      const before = await open({ key });
      const cursor = before.events[0]!;
      await service().addPets({ petId: 501n }, { petId: 502n });
      expect(await before.changes(2)).toEqual([cursor.seq + 1, cursor.seq + 2]);
      await service().restart();
      expect(await before.closed()).toBe("ended");
      await service().addPets({ petId: 503n }, { petId: 504n });
      const middle = before.events.find(({ seq }) => seq === cursor.seq + 1)!;
      for (const { id, seq } of [cursor, middle, before.events.at(-1)!]) {
        const after = await open({ key, headers: { "Last-Event-ID": id } });
        expect(after.events[0]).toMatchObject({ kind: "heartbeat", seq });
        const last = cursor.seq + 4;
        expect(await after.changes(last - seq)).toEqual(upTo(last, seq + 1));
        after.leave();
      }
    });

    test("[feed.reset] a cursor of another history and a row past the end get one reset, whose cursor works", async () => {
      const last = await tip();
      const key = await issue();
      for (const options of [
        { query: "?after=another-history-1" },
        { headers: { "Last-Event-ID": "5f3b2c1e-8a4d-4f0b-9c6e-2d7a1b0e4c93-1" } },
        { query: `?after=${last + 1}` },
        { query: "?after=9007199254740991" },
      ]) {
        const feed = await open({ key, ...options });
        expect(feed.events[0]).toMatchObject({ kind: "reset", seq: last });
        const again = await open({ key, headers: { "Last-Event-ID": feed.events[0]!.id } });
        expect(again.events[0]).toMatchObject({ kind: "heartbeat", seq: last });
        for (const one of [feed, again]) one.leave();
      }
    });

    test("[feed.filters] cause and key select changes, and heartbeats move the cursor past the others", async () => {
      await service().addPets({ petId: 301n }, { petId: 302n });
      const { id, text: key } = await service().issueKey();
      const start = await tip();
      await patch(key, 301, 1);
      await service().addPets({ petId: 301n, quantity: 9 });
      const other = await issue();
      await patch(other, 302, 1);
      const last = await tip();
      const seqs = async (query: string, count: number) => {
        const feed = await open({ key, query: `?after=${start}&${query}` });
        const found = await feed.changes(count);
        // The heartbeat covers what the filter leaves out.
        let heartbeat = feed.events[0]!;
        for (let beat = 0; beat < 5 && heartbeat.seq < last; beat++) {
          heartbeat = await feed.nextOf("heartbeat");
        }
        expect(heartbeat.seq).toBe(last);
        const resumed = await open({ key, headers: { "Last-Event-ID": heartbeat.id } });
        expect(resumed.events[0]).toMatchObject({ kind: "heartbeat", seq: last });
        for (const one of [feed, resumed]) one.leave();
        return found;
      };
      expect(await seqs("cause=api", 2)).toEqual([start + 1, start + 3]);
      expect(await seqs("cause=import", 1)).toEqual([start + 2]);
      expect(await seqs(`key=${id}`, 1)).toEqual([start + 1]);
      expect(await seqs(`key=${id}&cause=import`, 0)).toEqual([]);
    });

    test("[feed.parameters] invalid cursors and parameters of pages get 400", async () => {
      const key = await issue();
      const get = (query: string, headers: Record<string, string> = {}) =>
        service().call("GET", `/changes${query}`, { key, headers: { ...accept, ...headers } });
      for (const query of [
        ...["?after=x", "?after=", "?after=-1", "?after=a-", "?after=a-01", "?after=1&after=2"],
        ...["?limit=5", "?before=9", "?until=2027-01-01", "?cause=theft", "?key=mine", "?since=x"],
        "?after=9007199254740992",
      ]) {
        expectError(await get(query), "invalid_request");
      }
      expectError(await get("", { "Last-Event-ID": "x" }), "invalid_request");
      expectError(await get("", { "Last-Event-ID": "x".repeat(300) }), "invalid_request");
      expectError(await get("?color=blue"), "invalid_request");
    });

    test("[feed.scope] the feed needs history:read", async () => {
      const { text: key } = await service().issueKey({ scopes: ["inventory:read"] });
      expectError(
        await service().call("GET", "/changes", { key, headers: accept }),
        "insufficient_scope",
      );
      expectError(await service().call("GET", "/changes", { headers: accept }), "unauthorized");
    });

    test("[feed.head-method] HEAD returns the headers of the feed and opens no stream", async () => {
      const key = await issue();
      for (let sent = 0; sent < 2 * streamsPerKey; sent++) {
        const head = await service().call("HEAD", "/changes", { key, headers: accept });
        expect(head.status).toBe(200);
        expect(head.headers.get("Content-Type")).toBe("text/event-stream");
      }
      const feed = await open({ key });
      feed.leave();
    });

    test("[feed.streams] a key has a limited number of streams; a further one gets 429, and a closed one makes room", async () => {
      const key = await issue();
      const feeds = await Promise.all(upTo(streamsPerKey).map(() => open({ key })));
      const refused = await service().call("GET", "/changes", { key, headers: accept });
      expectError(refused, "rate_limit_exceeded");
      expect(refused.headers.get("Retry-After")).toBe("5");
      expect((await service().call("GET", "/changes", { key })).status).toBe(200);
      const other = await open({ key: await issue() });
      feeds[1]!.leave();
      const mayOpen = async () => {
        const feed = await requestFeed(service().baseUrl, { key });
        if (feed.status === 200) feeds.push(feed);
        return feed.status === 200;
      };
      await until(mayOpen, 5_000, "the closed stream makes no room");
      for (const feed of [...feeds, other]) feed.leave();
    });

    test("[feed.cost] opening a stream counts as one request, and its events as none", async () => {
      await service().addPets({ petId: 401n });
      const key = await issue();
      const feed = await open({ key, query: "?after=0" });
      const { remaining } = limitsOf(feed);
      await feed.changes(await tip());
      await service().store.inventory.commit([setUnit(401n, 3)]);
      const after = await service().call("GET", "/changes/head", { key });
      expect(limitsOf(after).remaining).toBe(remaining - 1);
      feed.leave();
    });
  },
  { "streams-per-key": String(streamsPerKey) },
  { feed: { streamsMax: 10_000, heartbeatMsMax: 200, stallMs: 10_000 } },
);
