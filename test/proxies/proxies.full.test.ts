import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:http2";
import { createServer } from "node:net";
import { readConfig } from "../../src/config.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { openFeed } from "../support/feed.ts";
import {
  findProxy,
  type ProxyName,
  proxies,
  proxyExample,
  type RunningProxy,
  startProxy,
} from "../support/proxies.ts";
import { call, startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

/** What each example must contain, besides the two instances. */
const required: Record<ProxyName, readonly string[]> = {
  nginx: [
    "ssl_protocols TLSv1.2 TLSv1.3;",
    "client_max_body_size 1m;",
    "proxy_set_header X-Forwarded-For $remote_addr;",
    "proxy_set_header Host $http_host;",
    "proxy_set_header X-Forwarded-Host $http_host;",
    "proxy_set_header X-Forwarded-Proto $scheme;",
    'proxy_set_header Connection "";',
    "proxy_buffering off;",
    "location ~ ^/(v1|admin)/changes$ {",
    "client_max_body_size 64m;",
    "keepalive 64;",
  ],
  haproxy: [
    "ssl-min-ver TLSv1.2",
    "req.hdr_val(content-length) gt 1048576",
    "req.hdr_val(content-length) gt 67108864",
    "http-request del-header X-Forwarded-For",
    "option forwardfor",
    "set-header X-Forwarded-Host %[req.hdr(host)]",
    "option http-buffer-request",
    "http-reuse never",
    "set-header X-Forwarded-Proto https",
    "option httpchk GET /readyz",
    "option http-no-delay",
  ],
  caddy: [
    "max_size 1MiB",
    "max_size 64MiB",
    "health_uri /readyz",
    "flush_interval -1",
    "lb_try_duration 5s",
  ],
};

/** Seconds that each example waits for the service, and keeps idle connections to it. */
const waits: Record<ProxyName, { readonly read: RegExp; readonly idle: RegExp }> = {
  nginx: { read: /proxy_read_timeout (\d+)s;/, idle: /keepalive_timeout (\d+)s;/ },
  haproxy: { read: /timeout server (\d+)s/, idle: /pool-purge-delay (\d+)s/ },
  caddy: { read: /read_timeout (\d+)s/, idle: /keepalive (\d+)s/ },
};

for (const name of proxies) {
  test(`the example for ${name} fits the limits and the timeouts of the service`, () => {
    const text = proxyExample(name);
    const lines = text.replace(/^\s*#.*$/gm, "");
    for (const part of [...required[name], "127.0.0.1:8080", "127.0.0.1:8081"]) {
      expect(lines).toContain(part);
    }
    const config = readConfig({}, {});
    const [read, idle] = [waits[name].read, waits[name].idle].map((pattern) =>
      Number(pattern.exec(lines)?.[1]),
    );
    expect(config.bodyBytesBackstop).toBe(1_048_576);
    expect(config.importBytesMax).toBe(64 * 1_048_576);
    expect(read! * 1_000).toBeGreaterThan(2 * config.feed.heartbeatMsMax);
    expect(idle).toBeLessThan(config.idleTimeoutSeconds);
    const drain = Number(/--drain-seconds (\d+)/.exec(text)?.[1]);
    expect(idle).toBeLessThan(drain);
  });

  const program = findProxy(name);
  describe.skipIf(program === null)(`through ${name} (needs ${name})`, () => {
    let first: TestService;
    let second: TestService;
    let proxy: RunningProxy;
    beforeAll(async () => {
      const ports = await freePorts();
      const flags = {
        "trusted-proxies": "127.0.0.1",
        "drain-seconds": "6",
        "address-per-minute": "4",
      };
      first = await startTestService("postgres", { ...flags, port: String(ports[1]) });
      const database = first.databaseUrl;
      const again = { ...flags, database, port: String(ports[2]), "drain-seconds": "0" };
      second = await startTestService("postgres", again);
      proxy = await startProxy(name, program!, ports[0], [ports[1], ports[2]]);
    });
    afterAll(async () => {
      await proxy.stop();
      await Promise.all([first.stop(), second.stop()]);
    });

    test("the console signs in at a port other than 443, and a page at another port does not", async () => {
      const { text: key } = await issueOperator(first);
      const { host, origin } = new URL(proxy.baseUrl);
      const signIn = (headers: Record<string, string>) =>
        call(proxy.baseUrl, "POST", "~/admin/session", { key, headers });
      const site = { "Sec-Fetch-Site": "same-origin" };
      expect((await signIn({ ...site, Origin: origin })).status).toBe(201);
      for (const foreign of [`https://127.0.0.1`, `https://127.0.0.1:1`, "https://a.example"]) {
        expect((await signIn({ ...site, Origin: foreign })).status).toBe(403);
        // The proxy replaces what a client claims.
        const claims = { "X-Forwarded-Host": new URL(foreign).host, "X-Forwarded-Proto": "http" };
        expect((await signIn({ ...site, ...claims, Origin: foreign })).status).toBe(403);
      }
      expect((await signIn({ ...site, Origin: `http://${host}` })).status).toBe(403);
    });

    test("over HTTP/2, a body that is too large gets 413, and requests after it are answered", async () => {
      const { text: key } = await first.issueKey({ plan: "business" });
      await first.addPets({ petId: 2n });
      const path = "/v1/inventory/2";
      for (let round = 0; round < 8; round++) {
        // nginx sends nothing on before it has the whole body.
        const sent = name === "nginx" ? 900_000 : 40_000;
        const large = { method: "PATCH", path, key, declared: 900_000, sent };
        expect(await statusOverHttp2(proxy.baseUrl, large)).toBe(413);
        expect(await statusOverHttp2(proxy.baseUrl, { method: "GET", path, key })).toBe(200);
      }
    });

    test("clients see one service, also while an instance restarts", async () => {
      await checkThroughProxy(proxy.baseUrl, first);
    });
  });
}

interface Http2Request {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  /** The length of the body, and how much of it is sent. The rest waits for a response. */
  readonly declared?: number;
  readonly sent?: number;
}

/** Sends a request on a connection of its own. Leaves as soon as it has the response, like curl. */
async function statusOverHttp2(
  baseUrl: string,
  { method, path, key, declared = 0, sent = 0 }: Http2Request,
): Promise<number> {
  const session = connect(new URL(baseUrl).origin, { rejectUnauthorized: false });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const body = declared === 0 ? {} : { "content-length": String(declared) };
  const headers = { ":method": method, ":path": path, authorization: `Bearer ${key}`, ...body };
  const stream = session.request(headers, { endStream: declared === 0 });
  let status = 0;
  stream.on("response", (fields) => {
    status = Number(fields[":status"]);
  });
  stream.on("end", () => resolve(status));
  stream.on("error", reject);
  session.on("error", reject);
  stream.resume();
  if (sent > 0) stream.write(Buffer.alloc(sent, "x"));
  if (sent === declared) stream.end();
  try {
    return await promise;
  } finally {
    session.destroy();
  }
}

async function checkThroughProxy(baseUrl: string, instance: TestService): Promise<void> {
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  const { text: key } = await instance.issueKey({ plan: "enterprise", limits });
  await instance.addPets({ petId: 1n });
  const update = (quantity: number, headers: Record<string, string> = {}) =>
    call(baseUrl, "PATCH", "/inventory/1", { key, headers, body: `{"quantity":${quantity}}` });

  // What a client claims to be is replaced by its address, which both instances count.
  const statuses = new Set<number>();
  const claim = async (number: number) => {
    const headers = { "X-Forwarded-For": `192.0.2.${number}` };
    statuses.add((await call(baseUrl, "GET", "/inventory", { headers })).status);
  };
  for (let sent = 1; sent <= 10; sent++) await claim(sent);
  expect([...statuses].sort()).toEqual([401, 429]);

  const large = await call(baseUrl, "PATCH", "/inventory/1", { key, body: "x".repeat(300_000) });
  expect(large.json).toMatchObject({ code: "payload_too_large", status: 413 });

  const feed = await openFeed(baseUrl, { key });
  for (const quantity of [3, 4, 5]) {
    await update(quantity);
    expect((await feed.nextOf("change")).text).toContain(`"after":{"quantity":${quantity}`);
  }
  feed.leave();

  // A proxy never repeats an update by itself. One whose new connection the stopping instance has not
  // accepted yet gets 502, as on a busy machine, and the client repeats it.
  const updateOnce = async (sent: number, client: number) => {
    const headers = { "Idempotency-Key": `"restart-${client}-${sent}"` };
    return update(sent, headers).catch((error: Error) => {
      if (!error.message.includes("returned 502")) throw error;
      return update(sent, headers);
    });
  };
  let isRestarting = true;
  const seen: number[] = [];
  const send = async (client: number) => {
    for (let sent = 0; isRestarting || sent < 10; sent++) {
      const response =
        client % 2 === 0 ? updateOnce(sent, client) : call(baseUrl, "GET", "/inventory/1", { key });
      seen.push((await response).status);
    }
  };
  const sending = [0, 1, 2, 3].map(send);
  await until(() => seen.length > 20, 8_000, "requests before the restart");
  await instance.restart();
  isRestarting = false;
  await Promise.all(sending);
  expect(new Set(seen)).toEqual(new Set([200]));
  expect((await instance.call("GET", "/inventory/1", { key })).status).toBe(200);
}

/** Ports that are free now. */
async function freePorts(): Promise<[number, number, number]> {
  const servers = await Promise.all(
    [1, 2, 3].map(async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  for (const server of servers) server.close();
  return ports as [number, number, number];
}
