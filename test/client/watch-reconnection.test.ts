import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isApiError, isTimeoutError } from "../../client/src/index.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import {
  changeEvent,
  retrySoon,
  ScriptedFeed,
  shortFeed,
} from "../support/client/scripted-feed.ts";
import { errorResponse, type Handler, ScriptedServer } from "../support/client/scripted-server.ts";
import { createClient, heartbeat, takeShort } from "../support/client/watching.ts";
import { runs } from "../support/properties/runs.ts";

describe("a watch that loses its connection", () => {
  test("misses no change and repeats none, wherever each connection breaks", async () => {
    await using server = new ScriptedServer();
    const last = 12;
    /** The service, which sends what follows the position; the connection breaks some bytes after `retry`. */
    const sendPart =
      (bytes: number): Handler =>
      (request) => {
        const after = request.headers.get("last-event-id") ?? "a-0";
        const start = Number(after.slice("a-".length));
        const rows = Array.from({ length: last - start }, (_, at) => changeEvent(start + at + 1));
        const text = [retrySoon, heartbeat(start), ...rows].join("");
        const part = new TextEncoder().encode(text).subarray(0, retrySoon.length + bytes);
        return new Response(part, { headers: { "content-type": "text/event-stream" } });
      };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1500), { maxLength: 12 }), async (breaks) => {
        server.enqueue(...breaks.map(sendPart), sendPart(Number.POSITIVE_INFINITY));
        const before = server.received.length;
        const watch = createClient(server).watch();
        const events = await takeShort(watch, last + 1);
        expect(events).toEqual(["start 0", ...events.slice(1).map((_, at) => String(at + 1))]);
        await watch.return();
        // Uses up the connections that this watch did not need.
        const used = server.received.length - before;
        for (let left = breaks.length + 1 - used; left > 0; left--) await fetch(server.baseUrl);
      }),
      runs(15),
    );
  });

  test("waits for the `retry` of the service, with jitter on top", async () => {
    await using server = new ScriptedServer();
    server.enqueue(
      shortFeed("retry: 40\n\n", heartbeat(5)),
      () => errorResponse(503, "unavailable", "Busy"),
      () => errorResponse(503, "unavailable", "Busy"),
      shortFeed("retry: 30\n\n", heartbeat(5)),
      shortFeed(heartbeat(5), changeEvent(6)),
    );
    const delays: number[] = [];
    const onRetry = ({ delayMs }: { delayMs: number }) => delays.push(delayMs);
    const client = createClient(server, {
      backoffBaseMs: 8,
      random: () => 0.5,
      hooks: { onRetry },
    });
    const watch = client.watch();
    const startMs = performance.now();
    expect(await takeShort(watch, 2)).toEqual(["start 5", "6"]);
    expect(performance.now() - startMs).toBeGreaterThan(44 + 8 + 16 + 34 - 4);
    await watch.return();
    // The bound of the jitter grows with each failure in a row, and starts again after a connection.
    expect(delays).toEqual([44, 8, 16, 34]);
  });

  test("tries again without end after errors that pass, unlike other calls", async () => {
    await using server = new ScriptedServer();
    for (const status of [503, 502, 504, 503, 502, 504]) {
      server.enqueue(() => errorResponse(status, "unavailable", "Busy"));
    }
    server.enqueue(shortFeed(heartbeat(5)));
    let attempts = 0;
    const client = createClient(server, {
      attemptsMax: 2,
      retryForMs: 0,
      fetch: (url, init) =>
        ++attempts % 2 === 0 ? Promise.reject(new TypeError("refused")) : fetch(url, init),
    });
    const watch = client.watch();
    expect(await takeShort(watch, 1)).toEqual(["start 5"]);
    await watch.return();
    expect([attempts, server.received.length]).toEqual([13, 7]);
  });

  test("stops after `attemptsMax` in a row, or after `retryForMs` without a connection", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    const busy = () => errorResponse(503, "unavailable", "Busy");
    const connected = shortFeed(retrySoon, heartbeat(5));
    server.enqueue(busy, connected, busy, connected, busy, busy, connected);
    const watch = client.watch({ attemptsMax: 3 });
    expect(await takeShort(watch, 1)).toEqual(["start 5"]);
    const error = await rejectionOf(watch.next());
    expect(isApiError(error) && error.status).toBe(503);
    expect(server.received).toHaveLength(6);
    const bounded = client.watch({ retryForMs: 300 });
    expect(await takeShort(bounded, 1)).toEqual(["start 5"]);
    server.enqueue(...Array.from({ length: 3 }, () => busy), connected);
    server.enqueue(() => errorResponse(503, "unavailable", "Busy", { "retry-after": "2" }));
    const late = await rejectionOf(bounded.next());
    expect(isApiError(late) && late.retryAfter).toBe(2);
  });

  test("waits for Retry-After after a 429 for too many streams, and does not delay other calls", async () => {
    await using server = new ScriptedServer();
    const feed = new ScriptedFeed();
    const headers = {
      "retry-after": "2",
      "x-ratelimit-limit": "60",
      "x-ratelimit-remaining": "50",
      "x-ratelimit-reset": String(Math.ceil(Date.now() / 1000) + 60),
    };
    server.enqueue(
      () => errorResponse(429, "rate_limit_exceeded", "Too many streams", headers),
      () => new Response("[]"),
      feed.handler,
    );
    const rejected = Promise.withResolvers<void>();
    const client = createClient(server, { hooks: { onRetry: () => rejected.resolve() } });
    const watch = client.watch();
    const startMs = performance.now();
    const started = watch.next();
    await rejected.promise;
    // The server has its response before that for the watch.
    await client.listInventory();
    await Promise.all([feed.send(heartbeat(5)), started]);
    expect(performance.now() - startMs).toBeGreaterThan(1_990);
    await watch.return();
  });

  test("rejects with the error of the service if a new connection cannot solve it", async () => {
    await using server = new ScriptedServer();
    for (const [status, code] of [
      [400, "invalid_request"],
      [401, "unauthorized"],
      [403, "insufficient_scope"],
    ] as const) {
      server.enqueue(shortFeed(retrySoon, heartbeat(5)), () => errorResponse(status, code, "No"));
      const watch = createClient(server).watch();
      expect(await takeShort(watch, 1)).toEqual(["start 5"]);
      const error = await rejectionOf(watch.next());
      expect(isApiError(error) && [error.status, error.code]).toEqual([status, code]);
      expect(await watch.next()).toEqual({ done: true, value: undefined });
    }
    expect(server.received).toHaveLength(6);
  });

  test("continues with a new key when its apiKey function has one", async () => {
    await using server = new ScriptedServer();
    const unauthorized = () => errorResponse(401, "unauthorized", "Revoked");
    server.enqueue(shortFeed(retrySoon, heartbeat(5)), unauthorized, shortFeed(changeEvent(6)));
    const keys = ["first", "first", "second"];
    const watch = createClient(server, { apiKey: () => keys.shift() ?? "second" }).watch();
    expect(await takeShort(watch, 2)).toEqual(["start 5", "6"]);
    await watch.return();
    const sent = server.received.map(({ headers }) => headers.get("authorization"));
    expect(sent).toEqual(["Bearer first", "Bearer first", "Bearer second"]);
  });

  test("opens a new one if the old one is silent for too long, and closes the old one", async () => {
    await using server = new ScriptedServer();
    const dead = new ScriptedFeed();
    server.enqueue(dead.handler, shortFeed(heartbeat(6), changeEvent(7)));
    const errors: unknown[] = [];
    const hooks = { onRetry: ({ error }: { error: unknown }) => errors.push(error) };
    const watch = createClient(server, { hooks }).watch({ idleTimeoutMs: 100 });
    await Promise.all([
      dead.send(retrySoon, heartbeat(5), changeEvent(6)),
      takeShort(watch, 3).then((events) => expect(events).toEqual(["start 5", "6", "7"])),
      dead.waitUntilClosed(),
    ]);
    expect(errors.map(isTimeoutError)).toEqual([true]);
    await watch.return();
  });
});
