import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openWorkspace, type Served, type Workspace } from "../support/process.ts";
import { call } from "../support/service.ts";
import { connectRaw } from "../support/socket.ts";
import { createKey, importPets, unlimited } from "../support/stocking.ts";
import { expectUsageError } from "../support/usage-errors.ts";

let place: Workspace;
let key: string;
beforeEach(async () => {
  place = openWorkspace();
  const database = `sqlite:${place.path("data/production.db")}`;
  ({ key } = await createKey(database, { name: "till", ...unlimited }));
  await importPets(database, '{"petId":1,"name":"Rex"}');
});
afterEach(() => place.leave());

const body = '{"quantity":4}';
const requests = () => {
  const head = (line: string, more = "") =>
    `${line} HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer ${key}\r\n${more}\r\n`;
  return [
    head("GET /v1/pets/1"),
    `${head("PATCH /v1/inventory/1", `Content-Length: ${body.length}\r\n`)}${body}`,
  ];
};

/** Sends requests on one connection until a response has `Connection: close`. */
async function askUntilClosed(service: Served, request: string): Promise<void> {
  const client = await connectRaw(service.baseUrl);
  for (let isLast = false; !isLast; ) {
    client.send(request);
    const answer = await client.answer();
    expect(answer.status).toBe(200);
    isLast = answer.headers.get("Connection") === "close";
  }
  await client.closed();
}

describe("a stop under load", () => {
  test("responds to every request on an open connection and closes it after the response", async () => {
    // A service that stops waits ten milliseconds for busy clients. If these have paused for longer
    // themselves, the test begins again.
    for (let isOver = false; !isOver; ) {
      const service = await place.serve();
      const clients = Array.from({ length: 40 }, (_, at) =>
        askUntilClosed(service, requests()[at % 2]!),
      );
      await untilCounted(service, 400);
      using pauses = watchPauses();
      service.kill("SIGTERM");
      const outcomes = await Promise.allSettled(clients);
      expect(await service.exited).toBe(0);
      isOver = outcomes.every(({ status }) => status === "fulfilled");
      if (!isOver && pauses.longestMs() < 10) await Promise.all(clients);
    }
  });
});

describe("with --drain-seconds", () => {
  test("a stopping service returns 503 for /readyz and serves requests, each with Connection: close", async () => {
    const service = await place.serve(["serve", "--drain-seconds", "5"]);
    const signalledAt = performance.now();
    service.kill("SIGTERM");
    await service.wrote('"stopping"');
    const ask = (method: string, path: string, options = {}) =>
      call(service.baseUrl, method, path, options);
    const answers = [
      [503, await ask("GET", "~/readyz")],
      [200, await ask("GET", "~/healthz")],
      [200, await ask("GET", "~/docs")],
      [200, await ask("GET", "/inventory", { key })],
      [200, await ask("PATCH", "/inventory/1", { key, body })],
      [401, await ask("GET", "/inventory")],
    ] as const;
    for (const [status, answer] of answers) {
      expect(answer.status).toBe(status);
      expect(answer.headers.get("Connection")).toBe("close");
    }
    expect(await service.exited).toBe(0);
    expect(performance.now() - signalledAt).toBeGreaterThan(4_900);
  });

  test("a signal that arrives twice, as from timeout or npm, and a closed terminal stop the service cleanly", async () => {
    const service = await place.serve(["serve", "--drain-seconds", "0"]);
    service.kill("SIGHUP");
    service.kill("SIGTERM");
    expect(await service.exited).toBe(0);
    expect(service.written()).toContain('"stopped"');
  });

  test("a value that is not a number of seconds is rejected", async () => {
    for (const seconds of ["-1", "1.5", "3601", "soon"]) {
      const ran = await place.runHere(["serve", `--drain-seconds=${seconds}`]);
      expectUsageError(ran, "--drain-seconds must be from 0 to 3600 seconds");
    }
  });
});

/** Measures for how long this process was not running. */
function watchPauses() {
  let last = performance.now();
  let longestMs = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - last);
    last = now;
  }, 1);
  return { longestMs: () => longestMs, [Symbol.dispose]: () => clearInterval(timer) };
}

/** Waits until the service has counted this many requests of the key. */
async function untilCounted(service: Served, count: number): Promise<void> {
  for (;;) {
    const { headers } = await call(service.baseUrl, "GET", "/nothing", { key });
    if (Number(headers.get("X-RateLimit-Remaining")) < 1_000_000 - count) return;
  }
}
