import { afterAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { PetstoreClient } from "../client/src/index.ts";
import { closeBrowser, watchedContext } from "./support/browser.ts";
import { CuttingProxy } from "./support/client/cutting-proxy.ts";
import { startExample } from "./support/example-process.ts";
import { findFreePort } from "./support/ports.ts";
import { findProxy } from "./support/proxies.ts";
import { startTestService } from "./support/service.ts";
import { until } from "./support/until.ts";
import { openStoreWorkspace } from "./support/workspaces.ts";

afterAll(closeBrowser);

const largestId = 9223372036854775807n;

test("a page without a key follows the stock with EventSource, and misses nothing when relay and service are killed", async () => {
  const place = await openStoreWorkspace("sqlite");
  const { context, requested, complaints } = await watchedContext();
  try {
    await place.importPets(
      `{"petId":7,"name":"A","quantity":3}`,
      `{"petId":${largestId},"name":"B","quantity":1}`,
    );
    const { key } = await place.createKey("till");
    const words = ["--name", "relay", "--plan", "free", "--scopes", "history:read"];
    const { key: relayKey } = await place.json<{ key: string }>("keys", "create", ...words);
    let served = await place.serve();
    await using service = await CuttingProxy.start(served.baseUrl);
    const client = new PetstoreClient({ baseUrl: service.baseUrl, apiKey: key, attemptsMax: 50 });
    const startRelay = async () => {
      const env = { BASE_URL: service.baseUrl, API_KEY: relayKey, PORT: "0" };
      const relay = startExample([process.execPath, "examples/relay.ts"], env);
      const url = (await relay.lineWith("listening on ")).replace("listening on ", "");
      return { ...relay, url };
    };
    const first = await startRelay();
    await using relay = await CuttingProxy.start(first.url);

    const page = await context.newPage();
    // Records what the page receives, before its own script runs.
    await page.addInitScript(() => {
      const received: string[] = [];
      Object.assign(globalThis, { received });
      const add = EventSource.prototype.addEventListener;
      EventSource.prototype.addEventListener = function (
        this: EventSource,
        type: string,
        listener: never,
      ) {
        const record = ({ data }: { data: string }) => {
          received.push(type === "change" ? `change ${JSON.parse(data).seq}` : type);
          if (type === "change" && /key|reason/.test(data)) received.push("leaked");
        };
        if (type !== "error") add.call(this, type, record as never);
        add.call(this, type, listener);
      } as never;
    });
    const shown = (petId: bigint) => page.locator(`#pet-${petId}`).innerText();
    const sell = async (petId: bigint) => {
      await client.applyChanges([{ petId, delta: -1, reason: "sale" }]);
      return (await client.ledgerHead()).seq;
    };
    const lastIs = (seq: number) =>
      page.getByText(`Last change: ${seq}`, { exact: true }).waitFor();

    await page.goto(relay.baseUrl);
    await page.locator(`#pet-${largestId}`).waitFor();
    expect(await shown(7n)).toBe("7\t3\tavailable");
    await lastIs(await sell(largestId));
    expect(await shown(largestId)).toBe(`${largestId}\t0\tavailable`);

    // The relay is killed, and the stock changes before the next one runs.
    await first[Symbol.asyncDispose]();
    const missed = await sell(7n);
    await using second = await startRelay();
    relay.switchTo(second.url);
    await lastIs(missed);

    // The service is killed while the relay runs.
    served.kill("SIGKILL");
    await served.exited;
    served = await place.serve();
    service.switchTo(served.baseUrl);
    await lastIs(await sell(7n));
    expect(await shown(7n)).toBe("7\t1\tavailable");

    const received = await page.evaluate("received");
    expect(received).toEqual(["stock", "change 3", "change 4", "change 5"]);
    expect(requested.every((url) => url.startsWith(new URL(relay.baseUrl).origin))).toBe(true);
    expect(await page.content()).not.toContain(relayKey);
    expect(complaints.filter((text) => !/ERR_|favicon|404/.test(text))).toEqual([]);
  } finally {
    await context.close();
    await place.leave();
  }
});

test("a page that reads a large stock slowly is not cut off", async () => {
  await using stack = new AsyncDisposableStack();
  const service = await startTestService();
  stack.defer(service.stop);
  await service.addPets({ petId: 7n });
  const { text: key } = await service.issueKey();
  const entry = (_: unknown, at: number) => `{"petId":${at},"quantity":1,"status":"available"}`;
  const large = `[${Array.from({ length: 350_000 }, entry).join()}]`;
  const front = Bun.serve({
    ...{ port: 0, idleTimeout: 0 },
    fetch({ url, headers }) {
      if (url.includes("/snapshots/")) return new Response(large);
      return fetch(service.baseUrl + url.slice(url.indexOf("/v1") + 3), { headers });
    },
  });
  stack.defer(() => front.stop(true));
  const env = { BASE_URL: `http://127.0.0.1:${front.port}/v1`, API_KEY: key, PORT: "0" };
  await using relay = startExample([process.execPath, "examples/relay.ts"], env);
  const { port } = new URL((await relay.lineWith("listening on ")).replace("listening on ", ""));
  const connectPage = () => {
    const socket = connect(Number(port), "127.0.0.1");
    stack.defer(() => void socket.destroy());
    socket.write("GET /changes HTTP/1.1\r\nHost: relay\r\n\r\n");
    return socket;
  };
  const changes = async (page: Socket) => {
    let end = "";
    for await (const part of page) {
      end = (end + part).slice(-10_000);
      if (end.includes("event: change")) return true;
    }
    return false;
  };
  const slow = connectPage().pause();
  // The relay writes to pages in the order in which they came.
  const other = connectPage();
  const seen = changes(other);
  await until(() => other.bytesRead > large.length, 10_000, "the stock in the other page");
  const body = '{"changes":[{"petId":7,"delta":1}]}';
  await service.call("POST", "/changes", { key, body });
  expect(await seen).toBe(true);
  expect(await changes(slow)).toBe(true);
});

const nginx = findProxy("nginx");

test.skipIf(nginx === null)(
  "a page reads and resumes the feed itself through a proxy that adds the key (needs nginx)",
  async () => {
    const place = await openStoreWorkspace("sqlite");
    const { context } = await watchedContext();
    try {
      await place.importPets(`{"petId":7,"name":"A","quantity":3}`);
      const { key } = await place.createKey("proxy");
      let served = await place.serve();
      await using service = await CuttingProxy.start(served.baseUrl);
      const client = new PetstoreClient({ baseUrl: service.baseUrl, apiKey: key, attemptsMax: 50 });
      const guide = await Bun.file("docs/feed.md").text();
      const location = /^location = \/stock-feed \{.*?^\}/ms.exec(guide)![0];
      const port = await findFreePort();
      await Bun.write(
        join(place.folder, "nginx.conf"),
        `daemon off; error_log stderr; pid ${place.path("nginx.pid")}; events {}
        http {
          access_log off;
          ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((one) => `${one}_temp_path ${place.path(one)};`).join(" ")}
          server {
            listen 127.0.0.1:${port};
            ${location.replace("http://127.0.0.1:8080", new URL(service.baseUrl).origin).replace("psk_live_…", key)}
            location = /check-visitor { if ($cookie_visitor = "") { return 401; } return 204; }
            location = / { default_type text/html; add_header Set-Cookie visitor=1; return 200 "<!doctype html>"; }
          }
        }`,
      );
      const proxy = place.start(["-c", place.path("nginx.conf"), "-p", place.folder], {
        command: [nginx!],
      });
      const origin = `http://127.0.0.1:${port}`;
      const statusOf = (path: string) =>
        fetch(origin + path).then(
          ({ status }) => status,
          () => 0,
        );
      await until(async () => (await statusOf("/")) === 200, 8_000, "nginx");
      expect(await statusOf("/stock-feed")).toBe(401);
      const page = await context.newPage();
      await page.goto(origin);
      await page.evaluate(`globalThis.received = [];
        const source = new EventSource("/stock-feed");
        source.onopen = () => received.push("open");
        source.addEventListener("change", ({ data }) => received.push(JSON.parse(data).seq));`);
      const receives = (...expected: unknown[]) =>
        page.waitForFunction(`received.join() === ${JSON.stringify(expected.join())}`);
      await receives("open");
      await client.updateInventory(7n, { quantity: 4 });
      await receives("open", 2);
      served.kill("SIGKILL");
      await served.exited;
      served = await place.serve();
      const direct = new PetstoreClient({ baseUrl: served.baseUrl, apiKey: key });
      await direct.updateInventory(7n, { quantity: 5 });
      service.switchTo(served.baseUrl);
      await receives("open", 2, "open", 3);
      proxy.kill("SIGTERM");
      await proxy.exited;
    } finally {
      await context.close();
      await place.leave();
    }
  },
);
