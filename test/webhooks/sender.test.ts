import { afterEach, describe, expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import type { Socket } from "node:net";
import type { WebhookSenderOptions } from "../../src/webhooks/sender.ts";
import { type Listener, startListener } from "../support/listeners.ts";
import { until } from "../support/until.ts";
import { createSender } from "../support/webhook-attempts.ts";

let receiver: Listener | undefined;
afterEach(async () => {
  await receiver?.close();
  receiver = undefined;
});

test("a request has the given headers and body, and closes its connection", async () => {
  receiver = await startListener("127.0.0.1", (socket) =>
    socket.end("HTTP/1.1 204 No Content\r\n\r\n"),
  );
  const request = {
    url: `http://hooks.example:${receiver.port}/a%20b?c=d`,
    headers: { "content-type": "application/json", "webhook-id": "msg_1" },
    body: '{"name":"Bücher 🐕"}',
  };
  const sender = createSender({ lookup: async () => ["127.0.0.1"] });
  const answer = await sender.send(request, new AbortController().signal);
  expect(answer).toEqual({
    status: 204,
    error: null,
    retryAfterMs: null,
    durationMs: answer.durationMs,
    text: "",
  });
  expect(Buffer.from(receiver.received, "latin1").toString()).toBe(
    [
      "POST /a%20b?c=d HTTP/1.1",
      `host: hooks.example:${receiver.port}`,
      "content-type: application/json",
      "webhook-id: msg_1",
      "content-length: 23",
      "connection: close",
      "",
      '{"name":"Bücher 🐕"}',
    ].join("\r\n"),
  );
});

describe("an attempt", () => {
  const request = (url: string) => ({ url, headers: {}, body: "{}" });
  const never = new AbortController().signal;

  test("explains what it cannot reach", async () => {
    const closed = await startListener("127.0.0.1");
    await closed.close();
    const errorOf = async (url: string, options: Partial<WebhookSenderOptions>) =>
      (await createSender(options).send(request(url), never)).error;
    const url = `http://hooks.example:${closed.port}/`;
    expect(await errorOf(url, { lookup: async () => ["127.0.0.1"] })).toBe("connection refused");
    const unresolved = "the host does not resolve";
    expect(await errorOf(url, { lookup: async () => [] })).toBe(unresolved);
    expect(await errorOf(url, { lookup: () => Promise.reject(new Error("x")) })).toBe(unresolved);
    expect(await errorOf(url, { webhooksAllowInsecure: false })).toStartWith(
      "the URL must be https://HOST/…",
    );
    expect(await errorOf("http://a.invalid/", {})).toBe(unresolved);
    expect(await errorOf("http://10.0.0.5/", {})).toBe("10.0.0.5 is not a public address");
  });

  test("includes the resolver in its time", async () => {
    const sender = createSender({ lookup: () => new Promise(() => {}), timeoutMs: 100 });
    const url = "http://hooks.example/";
    const answer = await sender.send(request(url), never);
    expect(answer).toMatchObject({ status: null, error: "no response within 0.1 s" });
    expect(await sender.checkUrl(url)).toBe(false);
  });

  test("tries the next address if one refuses", async () => {
    receiver = await startListener("127.0.0.1", (socket) =>
      socket.end("HTTP/1.1 204 No Content\r\n\r\n"),
    );
    const lookup = async () => ["127.0.0.3", "127.0.0.1"];
    const url = `http://hooks.example:${receiver.port}/`;
    const answer = await createSender({ lookup }).send(request(url), never);
    expect(answer).toMatchObject({ status: 204, error: null });
  });

  test("ends at once when its signal aborts, at every stage", async () => {
    receiver = await startListener("127.0.0.1");
    const url = `http://hooks.example:${receiver.port}/`;
    const resolving = createSender({ lookup: () => new Promise(() => {}) });
    const responding = createSender({ lookup: async () => ["127.0.0.1"] });
    const before = new AbortController();
    before.abort();
    const cancelled = { status: null, error: "the attempt was cancelled" };
    expect(await responding.send(request(url), before.signal)).toMatchObject(cancelled);
    expect(receiver.connections).toBe(0);
    for (const sender of [resolving, responding]) {
      const stop = new AbortController();
      const answer = sender.send(request(url), stop.signal);
      if (sender === responding) await until(() => receiver!.received !== "", 5_000, "a request");
      stop.abort();
      expect(await answer).toMatchObject(cancelled);
    }
    await until(() => receiver!.open === 0, 5_000, "the end of the connection");
  });
});

test("500 attempts that fail in different ways leave no connection open", async () => {
  const ways: ((socket: Socket) => void)[] = [
    (socket) => socket.resetAndDestroy(),
    (socket) => socket.write("garbage"),
    (socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nok"),
    (socket) => socket.write("HTTP/1.1 302 Found\r\nContent-Length: 9\r\n\r\n"),
    () => {},
  ];
  let turn = 0;
  const current = await startListener("127.0.0.1", (socket) => ways[turn++ % ways.length]!(socket));
  receiver = current;
  const sender = createSender({ timeoutMs: 500 });
  const stop = new AbortController();
  const request = { url: `http://${current.authority}/`, headers: {}, body: "{}" };
  for (let round = 0; round < 2; round++) {
    await Promise.all(Array.from({ length: 250 }, () => sender.send(request, stop.signal)));
  }
  await until(() => current.open === 0, 5_000, "the end of all connections");
  expect(current.connections).toBe(500);
  expect(getEventListeners(stop.signal, "abort")).toEqual([]);
});
