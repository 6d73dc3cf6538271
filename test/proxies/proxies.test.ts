import { expect, test } from "bun:test";
import { createServer } from "node:net";
import { readConfig } from "../../src/config.ts";
import { openFeed } from "../support/feed.ts";
import { until } from "../support/instances/fleet.ts";
import {
  findProxy,
  type ProxyName,
  proxies,
  proxyExample,
  startProxy,
} from "../support/proxies.ts";
import { call, startTestService } from "../support/service.ts";

/** What each example must contain, besides the two instances. */
const required: Record<ProxyName, readonly string[]> = {
  nginx: [
    "ssl_protocols TLSv1.2 TLSv1.3;",
    "client_max_body_size 1m;",
    "proxy_set_header X-Forwarded-For $remote_addr;",
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

  test(`through ${name}, where it is installed, clients see one service, also while an instance restarts`, async () => {
    const program = findProxy(name);
    if (program === null) return;
    const ports = await freePorts();
    const flags = {
      "trusted-proxies": "127.0.0.1",
      "drain-seconds": "6",
      "address-per-minute": "2",
    };
    const first = await startTestService("postgres", { ...flags, port: String(ports[1]) });
    const database = first.databaseUrl;
    const again = { ...flags, database, port: String(ports[2]), "drain-seconds": "0" };
    const second = await startTestService("postgres", again);
    const proxy = await startProxy(name, program, ports[0], [ports[1], ports[2]]);
    await checkThroughProxy(proxy.baseUrl, first);
    await proxy.stop();
    await Promise.all([first.stop(), second.stop()]);
  });
}

async function checkThroughProxy(
  baseUrl: string,
  instance: Awaited<ReturnType<typeof startTestService>>,
): Promise<void> {
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  const { text: key } = await instance.issueKey({ plan: "enterprise", limits });
  await instance.addPets({ petId: 1n });
  const update = (quantity: number) =>
    call(baseUrl, "PATCH", "/inventory/1", { key, body: `{"quantity":${quantity}}` });

  // What a client claims to be is replaced by its address, which both instances count.
  const statuses = new Set<number>();
  const claim = async (number: number) => {
    const headers = { "X-Forwarded-For": `192.0.2.${number}` };
    statuses.add((await call(baseUrl, "GET", "/inventory", { headers })).status);
  };
  for (let sent = 1; sent <= 6; sent++) await claim(sent);
  expect([...statuses].sort()).toEqual([401, 429]);

  const large = await call(baseUrl, "PATCH", "/inventory/1", { key, body: "x".repeat(300_000) });
  expect(large.json).toMatchObject({ code: "payload_too_large", status: 413 });

  const feed = await openFeed(baseUrl, { key });
  for (const quantity of [3, 4, 5]) {
    await update(quantity);
    expect((await feed.nextOf("change")).text).toContain(`"after":{"quantity":${quantity}`);
  }
  feed.leave();

  let isRestarting = true;
  const seen: number[] = [];
  const send = async (client: number) => {
    for (let sent = 0; isRestarting || sent < 10; sent++) {
      const response =
        client % 2 === 0 ? update(sent) : call(baseUrl, "GET", "/inventory/1", { key });
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
