import { expect, spyOn, test } from "bun:test";
import { connect } from "node:tls";
import { openFeed } from "../support/feed.ts";
import { listenableAddresses } from "../support/listeners.ts";
import { sampleOf, scrape } from "../support/metrics.ts";
import { startTestService } from "../support/service.ts";
import { connectRaw, type RawClient } from "../support/socket.ts";
import { openCertificateFolder, testFile } from "../support/tls.ts";
import { pass, until } from "../support/until.ts";

const patienceMs = 8_000;
const bounds = { certificateCheckMs: 20 };

async function startTls(flags: Record<string, string> = {}) {
  const files = openCertificateFolder("first");
  const service = await startTestService("sqlite", { ...files.flags, ...flags }, bounds);
  const { text: key } = await service.issueKey({
    plan: "enterprise",
    limits: { perMinute: 1_000_000, perDay: 1_000_000 },
  });
  await service.addPets({ petId: 1n });
  const loggedEvents = () => service.logged.map((line) => JSON.parse(line));
  return {
    files,
    service,
    key,
    loggedEvents,
    /** The name in the certificate that a new connection gets. */
    async certificateName() {
      const client = await connectRaw(service.baseUrl);
      client.abort();
      return client.certificateName;
    },
    async stop() {
      await service.stop();
      files.remove();
    },
  };
}

test("with a certificate the service speaks HTTPS, and sees the address of the client", async () => {
  const proxied = {
    "trusted-proxies": "127.0.0.1",
    "address-per-minute": "2",
    "metrics-port": "0",
  };
  const { service, key, loggedEvents, stop } = await startTls(proxied);
  expect(service.baseUrl).toStartWith("https://127.0.0.1:");
  expect((await service.call("GET", "~/readyz")).status).toBe(200);
  expect((await service.call("GET", "~/docs")).status).toBe(200);
  const changed = await service.call("PATCH", "/inventory/1", { key, body: '{"quantity":7}' });
  expect(changed.json).toMatchObject({ quantity: 7 });
  expect(changed.headers.has("Strict-Transport-Security")).toBe(false);
  const anonymous = async (address: string) => {
    const headers = { "X-Forwarded-For": address };
    return (await service.call("GET", "/inventory", { headers })).status;
  };
  for (const status of [401, 401, 429]) expect(await anonymous("192.0.2.1")).toBe(status);
  expect(await anonymous("192.0.2.2")).toBe(401);
  const exposed = await scrape(service.metricsUrl);
  expect(sampleOf(exposed, "petstore_certificate_expiry_timestamp_seconds")).toBe(
    Date.parse("2126-10-23T01:57:37Z") / 1_000,
  );
  expect(loggedEvents()).toContainEqual({
    event: "certificate loaded",
    subject: "CN=first.petstore.example",
    expiresAt: "2126-10-23T01:57:37.000Z",
  });
  await stop();
});

test("a list of a megabyte arrives whole by TLS, also if the client reads slowly", async () => {
  const { service, key, stop } = await startTls();
  const pets = Array.from({ length: 20_000 }, (_, at) => ({ petId: BigInt(at + 2) }));
  await service.addPets(...pets);
  const list = await service.call("GET", "/inventory", { key });
  expect(list.json).toHaveLength(20_001);
  const slow = await connectRaw(service.baseUrl);
  const request = `GET /v1/inventory HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`;
  slow.pause();
  slow.send(request);
  // The server fills what there is between it and the client.
  await pass(200);
  slow.resume();
  const received = await slow.closed();
  // Not `toBe`, whose message would show both.
  expect(received.slice(received.indexOf("\r\n\r\n") + 4) === list.text).toBe(true);
  await stop();
});

test("a new certificate drops no connection, no request and no stream, and new connections get it", async () => {
  const { service, files, key, certificateName, loggedEvents, stop } = await startTls();
  const feed = await openFeed(service.baseUrl, { key });
  const request = `GET /v1/inventory/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const requestsMin = 40;
  let isRunning = true;
  /** Requests on one connection, one after the other. Throws if the connection is closed. */
  const send = async (client: RawClient) => {
    let answered = 0;
    for (; isRunning || answered < requestsMin; answered++) {
      client.send(request);
      expect((await client.answer()).status).toBe(200);
    }
  };
  const busy = await Promise.all(Array.from({ length: 20 }, () => connectRaw(service.baseUrl)));
  const idle = await connectRaw(service.baseUrl);
  const sending = busy.map(send);
  expect(await certificateName()).toBe("first.petstore.example");
  files.link("second");
  await until(
    async () => (await certificateName())?.startsWith("second") ?? false,
    patienceMs,
    "new",
  );
  files.put("cert", testFile("first-cert.pem"));
  files.put("key", testFile("first-key.pem"));
  await until(
    async () => (await certificateName())?.startsWith("first") ?? false,
    patienceMs,
    "old",
  );
  isRunning = false;
  await Promise.all(sending);
  idle.send(request);
  expect((await idle.answer()).status).toBe(200);
  await service.call("PATCH", "/inventory/1", { key, body: '{"quantity":9}' });
  expect((await feed.nextOf("change")).text).toContain('"after":{"quantity":9');
  feed.leave();
  const reloads = loggedEvents().filter(({ event }) => event === "certificate reloaded");
  expect(reloads.map(({ subject }) => subject)).toEqual([
    "CN=second.petstore.example",
    "CN=first.petstore.example",
  ]);
  await stop();
});

test("files that cannot be used leave the old certificate in use, and the log says so once", async () => {
  const { files, certificateName, loggedEvents, stop } = await startTls();
  const events = () => loggedEvents().slice(1);
  files.put("key", testFile("second-key.pem"));
  await until(() => events().length > 0, patienceMs, "logged");
  // Long enough for several more checks, each time.
  await pass(100);
  files.put("key", "nothing");
  await pass(100);
  expect(await certificateName()).toBe("first.petstore.example");
  expect(events()).toEqual([
    {
      event: "certificate not loaded",
      error: `the TLS key ${files.keyFile} does not belong to the certificate ${files.certFile}`,
      inUse: { subject: "CN=first.petstore.example", expiresAt: "2126-10-23T01:57:37.000Z" },
    },
  ]);
  files.put("cert", testFile("second-cert.pem"));
  files.put("key", testFile("second-key.pem"));
  await until(() => events().length > 1, patienceMs, "reloaded");
  expect(events()[1]).toMatchObject({ event: "certificate reloaded" });
  expect(await certificateName()).toBe("second.petstore.example");
  await stop();
});

test("files that are as they were again, after a failure that was logged, are logged too", async () => {
  const { files, certificateName, loggedEvents, stop } = await startTls();
  const events = () => loggedEvents().slice(1);
  files.put("key", testFile("second-key.pem"));
  await until(() => events().length > 0, patienceMs, "a failure");
  files.put("key", testFile("first-key.pem"));
  await until(() => events().length > 1, patienceMs, "the end of the failure");
  expect(events()).toEqual([
    expect.objectContaining({ event: "certificate not loaded" }),
    {
      event: "certificate reloaded",
      subject: "CN=first.petstore.example",
      expiresAt: "2126-10-23T01:57:37.000Z",
    },
  ]);
  expect(await certificateName()).toBe("first.petstore.example");
  await stop();
});

test("plain HTTP, old versions of TLS and unfinished handshakes get no response, and the service goes on", async () => {
  const { service, key, stop } = await startTls({ "idle-timeout-seconds": "1" });
  const unfinished = await connectRaw(service.baseUrl.replace("https:", "http:"));
  unfinished.send(new Uint8Array([22, 3, 1]));
  const plain = await connectRaw(service.baseUrl.replace("https:", "http:"));
  plain.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(await plain.closed()).not.toContain("HTTP/");
  const { port } = new URL(service.baseUrl);
  const options = { port: Number(port), host: "127.0.0.1", rejectUnauthorized: false };
  const old = connect({ ...options, minVersion: "TLSv1", maxVersion: "TLSv1.1" });
  const outcome = new Promise((resolve) => {
    old.once("secureConnect", () => resolve("connected"));
    old.once("error", () => resolve("refused"));
  });
  expect(await outcome).toBe("refused");
  expect(await unfinished.closed()).toBe("");
  const last = await connectRaw(service.baseUrl);
  last.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  last.end();
  expect(await last.closed()).toContain('{"status":"ok"}');
  expect((await service.call("GET", "/inventory/1", { key })).status).toBe(200);
  await stop();
});

test("a service that others reach by plain HTTP says so once, unless a trusted proxy is set", async () => {
  const files = openCertificateFolder("first");
  const open = { host: "0.0.0.0" };
  const cases = [
    [{}, []],
    [{ host: "localhost" }, []],
    [{ ...open, ...files.flags }, []],
    [{ ...open, "trusted-proxies": "10.0.0.0/8" }, []],
    [open, ['{"event":"no encryption","host":"0.0.0.0"}']],
  ] as const;
  for (const [flags, expected] of cases) {
    const service = await startTestService("sqlite", flags);
    const logged = service.logged.filter((line) => line.includes("no encryption"));
    expect(logged).toEqual([...expected]);
    await service.stop();
  }
  files.remove();
});

test("the port behind the TLS listener refuses what did not arrive by TLS, also from the same port of another address", async () => {
  const serve = spyOn(Bun, "serve");
  const { service, key, stop } = await startTls();
  const inner = serve.mock.results[0]!.value as Bun.Server<undefined>;
  serve.mockRestore();
  const requestIp = spyOn(inner, "requestIP");
  const client = await connectRaw(service.baseUrl);
  const request = `GET /v1/inventory/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  client.send(request);
  expect((await client.answer()).status).toBe(200);
  const own = requestIp.mock.results[0]!.value as Bun.SocketAddress;
  expect(own).toMatchObject({ address: "127.0.0.1" });
  const ends = [{}, { localAddress: "127.0.0.2", localPort: own.port }];
  const possible = await listenableAddresses();
  for (const end of possible.includes("127.0.0.2") ? ends : ends.slice(0, 1)) {
    const other = await connectRaw(`http://127.0.0.1:${inner.port}`, end);
    other.send(request);
    expect(await other.closed()).toStartWith("HTTP/1.1 421 ");
  }
  client.send(request);
  expect((await client.answer()).status).toBe(200);
  client.abort();
  await stop();
});
