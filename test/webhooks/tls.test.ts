import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { parseNetwork } from "../../src/domain/values/networks.ts";
import { createWebhookSender } from "../../src/webhooks/sender.ts";
import { type Listener, startListener } from "../support/listeners.ts";
import { testFile } from "../support/tls.ts";
import { until } from "../support/until.ts";

const key = testFile("server-key.pem");
const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
let secure: Listener;
let expired: Listener;

beforeAll(async () => {
  const start = (cert?: string) =>
    startListener("127.0.0.1", (socket) => socket.end(ok), cert ? { key, cert } : undefined);
  secure = await start(testFile("server.pem"));
  expired = await start(testFile("expired.pem"));
});

afterAll(() => Promise.all([secure, expired].map((listener) => listener.close())));

function send(url: string, ca?: string, timeoutMs = 60_000) {
  const sender = createWebhookSender({
    webhooksAllowInsecure: true,
    webhooksAllowedNetworks: [parseNetwork("127.0.0.1")!],
    lookup: async () => ["127.0.0.1", "127.0.0.1"],
    timeoutMs,
    ...(ca === undefined ? {} : { ca }),
  });
  return sender.send({ url, headers: { "x-secret": "s3cret" }, body: "{}" }, AbortSignal.any([]));
}

const authority = testFile("authority.pem");
const unknown = "the certificate is not signed by a known authority";

describe("an attempt over TLS", () => {
  test("sends the name of the URL in SNI and Host, though it connects to an address", async () => {
    const answer = await send(`https://Hooks.example:${secure.port}/a?b=c`, authority);
    expect(answer).toMatchObject({ status: 200, error: null, text: "ok" });
    expect(secure.names).toEqual(["hooks.example"]);
    const head = `POST /a?b=c HTTP/1.1\r\nhost: hooks.example:${secure.port}\r\n`;
    expect(secure.received).toStartWith(head);
  });

  test("accepts an address in the URL if the certificate names it", async () => {
    const answer = await send(`https://127.0.0.1:${secure.port}/`, authority);
    expect(answer).toMatchObject({ status: 200, error: null });
  });

  test("sends nothing if the certificate is not valid, whatever the environment says", async () => {
    const before = secure.received;
    const saved = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    try {
      const errors = [
        await send(`https://other.example:${secure.port}/`, authority),
        await send(`https://sub.hooks.example:${secure.port}/`, authority),
        await send(`https://hooks.example:${secure.port}/`),
        await send(`https://hooks.example:${expired.port}/`, authority),
        await send(`https://hooks.example:${secure.port}/`, testFile("server.pem")),
      ].map(({ status, error }) => ({ status, error }));
      expect(errors).toEqual([
        { status: null, error: "the certificate is not valid for other.example" },
        { status: null, error: "the certificate is not valid for sub.hooks.example" },
        { status: null, error: unknown },
        { status: null, error: "the certificate has expired" },
        { status: null, error: unknown },
      ]);
    } finally {
      if (saved === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = saved;
    }
    expect(secure.received).toBe(before);
    expect(expired.received).toBe("");
  });

  test("fails if the receiver does not use TLS", async () => {
    const closing = createServer((socket) => socket.end());
    const talking = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    for (const server of [closing, talking]) {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const { status, error } = await send(`https://hooks.example:${port}/`, authority);
      expect(status).toBeNull();
      expect(error).toMatch(/^connection (reset|closed)$|^the TLS handshake failed/);
      server.close();
    }
  });

  test("tries the next address if one does not respond, in the time that is left", async () => {
    const silent: Socket[] = [];
    const front = createServer((socket) => {
      if (silent.length === 0) silent.push(socket.resume());
      else socket.pipe(connect(secure.port, "127.0.0.1")).pipe(socket);
    });
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    const { port } = front.address() as AddressInfo;
    // The first address has half of the time. A handshake on a busy machine needs some of the rest.
    const answer = await send(`https://hooks.example:${port}/`, authority, 10_000);
    expect(answer).toMatchObject({ status: 200, error: null });
    expect(answer.durationMs).toBeGreaterThanOrEqual(4_999);
    await until(() => silent[0]!.destroyed, 5_000, "the end of the silent connection");
    front.close();
  });
});
