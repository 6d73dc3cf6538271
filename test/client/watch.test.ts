import { describe, expect, test } from "bun:test";
import { isApiError, isNetworkError, type WatchOptions } from "../../client/src/index.ts";
import { rejectionOf } from "../support/client/rejection.ts";
import {
  changeEvent,
  highestPetId,
  positionEvent,
  retrySoon,
  ScriptedFeed,
  shortFeed,
} from "../support/client/scripted-feed.ts";
import { errorResponse, type Handler, ScriptedServer } from "../support/client/scripted-server.ts";
import { createClient, heartbeat, short, take, takeShort } from "../support/client/watching.ts";
import { pass } from "../support/until.ts";

const pathsOf = ({ received }: ScriptedServer) => received.map(({ path }) => path);
const positionsOf = ({ received }: ScriptedServer) =>
  received.map(({ headers }) => headers.get("last-event-id"));

describe("a watch", () => {
  test("returns its start and every change, with exact ids and a cursor each", async () => {
    await using server = new ScriptedServer();
    const feed = new ScriptedFeed();
    server.enqueue(feed.handler);
    const watch = createClient(server).watch();
    expect([watch.cursor, server.received]).toEqual([undefined, []]);
    await Promise.all([
      feed.send("event: later\ndata: {}\n\n", heartbeat(5), changeEvent(6), changeEvent(7)),
      take(watch, 2).then(([start, change]) => {
        expect(start).toEqual({ type: "start", cursor: "a-5", seq: 5 });
        expect(change).toMatchObject({ type: "change", cursor: "a-6" });
        expect(change?.type === "change" && change.change).toMatchObject({
          seq: 6,
          petId: highestPetId,
          reason: "é",
        });
        expect(JSON.stringify(change)).toContain(`"petId":${highestPetId},`);
      }),
    ]);
    expect(watch.cursor).toBe("a-6");
    expect(await takeShort(watch, 1)).toEqual(["7"]);
    await watch.return();
    expect(watch.cursor).toBe("a-7");
    expect(pathsOf(server)).toEqual(["/v1/changes"]);
    expect(server.received[0]?.headers.get("accept")).toBe("text/event-stream");
  });

  test("moves its cursor with heartbeats, while it waits for a change", async () => {
    await using server = new ScriptedServer();
    const feed = new ScriptedFeed();
    server.enqueue(feed.handler);
    const watch = createClient(server).watch({ after: 5, cause: "import", key: "k&1" });
    expect(watch.cursor).toBe("5");
    const pending = take(watch, 2);
    await feed.send(heartbeat(5), heartbeat(90));
    while (watch.cursor !== "a-90") await new Promise((resolve) => setImmediate(resolve));
    await feed.send(changeEvent(100));
    expect((await pending).map(short)).toEqual(["start 5", "100"]);
    expect(pathsOf(server)).toEqual(["/v1/changes?after=5&cause=import&key=k%261"]);
    await watch.return();
  });

  test("continues on a new connection, and returns no change twice", async () => {
    await using server = new ScriptedServer();
    server.enqueue(
      shortFeed(retrySoon, heartbeat(5), changeEvent(6), changeEvent(7), "id: a-8\nevent: chan"),
      shortFeed(retrySoon, heartbeat(7)),
      shortFeed(retrySoon, heartbeat(6), changeEvent(6), changeEvent(7), changeEvent(8)),
      shortFeed(retrySoon, changeEvent(9)),
    );
    const watch = createClient(server).watch({ after: "z-5" });
    expect(await takeShort(watch, 5)).toEqual(["start 5", "6", "7", "8", "9"]);
    await watch.return();
    expect(positionsOf(server)).toEqual([null, "a-7", "a-7", "a-8"]);
    expect(new Set(pathsOf(server))).toEqual(new Set(["/v1/changes?after=z-5"]));
  });

  test("reports a reset, at the start and later, and continues in the other history", async () => {
    await using server = new ScriptedServer();
    server.enqueue(
      shortFeed(retrySoon, positionEvent("reset", 9), changeEvent(10)),
      shortFeed(
        retrySoon,
        positionEvent("reset", 4, "b"),
        changeEvent(5, "b"),
        positionEvent("reset", 2, "c"),
        changeEvent(3, "c"),
      ),
    );
    const watch = createClient(server).watch({ after: "old-70" });
    const events = await take(watch, 6);
    expect(events.map(short)).toEqual(["reset 9", "10", "reset 4", "5", "reset 2", "3"]);
    expect(events[2]).toEqual({ type: "reset", cursor: "b-4", seq: 4 });
    expect(watch.cursor).toBe("c-3");
    await watch.return();
    expect(positionsOf(server)).toEqual([null, "a-10"]);
  });

  test("without a filter rejects if rows are missing, and never returns what follows", async () => {
    await using server = new ScriptedServer();
    for (const [late, message] of [
      [changeEvent(8), "skipped the rows 7 to 7"],
      [heartbeat(9), "skipped the rows 7 to 9"],
    ] as const) {
      server.enqueue(shortFeed(retrySoon, heartbeat(5), changeEvent(6), late));
      const watch = createClient(server).watch();
      expect(await takeShort(watch, 2)).toEqual(["start 5", "6"]);
      const error = await rejectionOf(watch.next());
      expect(isApiError(error) && [error.code, error.message]).toEqual([
        "unexpected_answer",
        `The feed ${message}`,
      ]);
      expect([watch.cursor, await watch.next()]).toEqual(["a-6", { done: true, value: undefined }]);
    }
  });

  test("reads no further while its consumer is busy, and misses nothing", async () => {
    await using server = new ScriptedServer();
    const perChunk = 20;
    const chunks = 400;
    let sent = 0;
    server.enqueue(() => {
      const body = new ReadableStream({
        pull(controller) {
          const rows = Array.from({ length: perChunk }, (_, at) =>
            changeEvent(sent * perChunk + at + 1).replace("é", "x".repeat(5000)),
          );
          controller.enqueue(new TextEncoder().encode(rows.join("")));
          if (++sent === chunks) controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    });
    const watch = createClient(server).watch({ attemptsMax: 1 });
    expect(await takeShort(watch, 1)).toEqual(["1"]);
    // The sender stops: nothing is pulled in many turns of the event loop.
    for (let turns = 0, before = -1; turns < 20; turns++) {
      if (before !== sent) turns = 0;
      before = sent;
      await pass(5);
    }
    expect(sent).toBeLessThan(chunks / 2);
    for (let seq = 2; seq <= perChunk * chunks; seq++) {
      const { value } = await watch.next();
      if (short(value) !== String(seq)) throw new Error(`${short(value)} instead of ${seq}`);
    }
    expect(isNetworkError(await rejectionOf(watch.next()))).toBe(true);
  });
});

describe("a watch closes its connection", () => {
  async function opened(options: WatchOptions = {}) {
    const server = new ScriptedServer();
    const feed = new ScriptedFeed();
    server.enqueue(feed.handler);
    const watch = createClient(server).watch(options);
    await Promise.all([feed.send(heartbeat(5), changeEvent(6)), watch.next()]);
    return { watch, feed, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  }
  const ended = { done: true, value: undefined } as const;

  test("when its loop is left", async () => {
    await using connection = await opened();
    for await (const event of connection.watch) {
      expect(short(event)).toBe("6");
      break;
    }
    await connection.feed.waitUntilClosed();
    expect(await connection.watch.next()).toEqual(ended);
  });

  test("when return() is called while it waits for a change", async () => {
    await using connection = await opened();
    const { watch, feed } = connection;
    expect(await takeShort(watch, 1)).toEqual(["6"]);
    const pending = [watch.next(), watch.next()];
    const [result] = await Promise.all([watch.return(), feed.waitUntilClosed()]);
    expect([result, ...(await Promise.all(pending))]).toEqual([ended, ended, ended]);
  });

  test("when its signal aborts, and rejects with the reason", async () => {
    const stop = new AbortController();
    await using connection = await opened({ signal: stop.signal });
    const { watch, feed } = connection;
    expect(await takeShort(watch, 1)).toEqual(["6"]);
    const pending = rejectionOf(watch.next());
    stop.abort("enough");
    await feed.waitUntilClosed();
    expect(await pending).toBe("enough");
    expect(await watch.next()).toEqual(ended);
  });

  test("or opens none, if it is cancelled before, during a request or between two attempts", async () => {
    await using server = new ScriptedServer();
    const client = createClient(server);
    expect(await rejectionOf(client.watch({ signal: AbortSignal.abort("early") }).next())).toBe(
      "early",
    );
    const unused = client.watch();
    expect([await unused.return(), await unused.next()]).toEqual([ended, ended]);
    expect(server.received).toEqual([]);
    const requested = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    server.enqueue((request) => {
      request.signal.addEventListener("abort", () => gone.resolve());
      requested.resolve();
      return new Promise<Response>(() => {});
    });
    const opening = client.watch();
    const first = opening.next();
    await requested.promise;
    await opening.return();
    expect(await first).toEqual(ended);
    await gone.promise;
    server.enqueue(() => errorResponse(503, "unavailable", "Busy", { "retry-after": "60" }));
    const stop = new AbortController();
    const hooks = { onRetry: () => queueMicrotask(() => stop.abort("enough")) };
    const waiting = createClient(server, { hooks }).watch({ signal: stop.signal });
    expect(await rejectionOf(waiting.next())).toBe("enough");
  });
});

test("a watch rejects a response that is not a feed of this service", async () => {
  await using server = new ScriptedServer();
  const responses: [Handler, string][] = [
    [() => Response.json([]), "The response is not a feed, but has the type application/json"],
    [shortFeed('event: heartbeat\ndata: {"seq":1}\n\n'), "has no valid id"],
    [shortFeed(heartbeat(1).replace("a-1", "ä 1")), "has no valid id"],
    [shortFeed("id: a-1\nevent: heartbeat\ndata: {}\n\n"), "seq is not an integer"],
    [shortFeed("id: a-1\nevent: change\ndata: [\n\n"), "does not match the API contract"],
    [shortFeed(`data: ${"x".repeat(300_000)}`), "more than 262144 characters"],
  ];
  for (const [respond, message] of responses) {
    server.enqueue(respond);
    const error = await rejectionOf(createClient(server).watch().next());
    expect(isApiError(error) && error.code).toBe("unexpected_answer");
    expect(String(error)).toContain(message);
  }
  expect(server.received).toHaveLength(responses.length);
});

test("a watch with invalid options throws, and sends nothing", async () => {
  await using server = new ScriptedServer();
  const client = createClient(server);
  for (const options of [
    { after: "" },
    { after: -1 },
    { after: 1.5 },
    { idleTimeoutMs: 0 },
    { attemptsMax: 0 },
    { headers: { "Last-Event-ID": "a-1" } },
  ]) {
    expect(() => client.watch(options)).toThrow();
  }
  expect(server.received).toEqual([]);
});
