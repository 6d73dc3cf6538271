// Both load generators of the benchmark, JavaScript and C, send the same requests and notice the same
// wrong responses. Without a C compiler only the one in JavaScript is tested.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { quantityMax, quantityMin } from "../bench/catalogue.ts";
import { Generator, type Measured } from "../bench/generator.ts";
import { buildPatchLoad } from "../bench/patch-load.ts";
import { patchRequest } from "../bench/scripts.ts";
import type { Work } from "../bench/work.ts";

const directory = mkdtempSync(join(tmpdir(), "petstore-generators-"));
const patchLoad = await buildPatchLoad(directory);
const generators: [language: string, program: string | undefined][] = [["JavaScript", undefined]];
if ("program" in patchLoad) generators.push(["C", patchLoad.program]);

const started = new Map<string, Generator>();
beforeAll(() => {
  for (const [language, program] of generators) started.set(language, new Generator(program));
});
afterAll(async () => {
  await Promise.all([...started.values()].map((generator) => generator.stop()));
  rmSync(directory, { recursive: true });
});

type Socket = Bun.Socket<string[]>;
type Respond = (socket: Socket, petId: string, quantity: string) => void;

const key = "key-of-the-test";

interface Run {
  measured: Measured;
  /** The requests of each connection. */
  requests: string[][];
  target: { host: string; port: number; key: string };
}

/** Sends load to a server that calls `respond`, and longer until each connection sent `requestsMin`. */
async function load(
  language: string,
  respond: Respond,
  work: Partial<Extract<Work, { kind: "patch" }>> = {},
  durationMs = 40,
  requestsMin = 0,
): Promise<Run> {
  const requests: string[][] = [];
  const server = Bun.listen<string[]>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => {
        socket.setNoDelay(true);
        socket.data = [];
        requests.push(socket.data);
      },
      data: (socket, bytes) => {
        const request = bytes.toString();
        socket.data.push(request);
        const [, petId, quantity] = /inventory\/(\d+) .*"quantity":(\d+)/s.exec(request)!;
        respond(socket, petId!, quantity!);
      },
    },
  });
  try {
    const target = { host: "127.0.0.1", port: server.port, key };
    const contestant = { name: "stub", pid: process.pid, target, startMs: 0, stop: async () => {} };
    const whole: Work = { kind: "patch", connections: 3, entries: 10, ...work };
    const measured = await started.get(language)!.measure(contestant, whole, durationMs);
    const sentMin = Math.min(...requests.map(({ length }) => length));
    if (sentMin >= requestsMin) return { measured, requests, target };
  } finally {
    server.stop(true);
  }
  return load(language, respond, work, 2 * durationMs, requestsMin);
}

const limits = "X-RateLimit-Limit: 9\r\nx-ratelimit-remaining: 8\r\nX-RATELIMIT-RESET: 7\r\n";

function response(body: string, headers = limits, status = "200 OK"): string {
  return `HTTP/1.1 ${status}\r\nDate: now\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
}

const entry = (petId: string, quantity: string) => `{"petId":${petId},"quantity":${quantity}}`;
const respondCorrectly: Respond = (socket, petId, quantity) => {
  socket.write(response(entry(petId, quantity)));
};

/** The pets and quantities of requests that must have exactly the bytes of `patchRequest`. */
function parse({ requests, target }: Run): { petId: number; quantity: number }[][] {
  return requests.map((all) =>
    all.map((request) => {
      const petId = Number(/inventory\/(\d+) /.exec(request)![1]);
      const quantity = Number(/"quantity":(\d+)/.exec(request)![1]);
      expect(request).toBe(patchRequest(target, petId, quantity));
      return { petId, quantity };
    }),
  );
}

const quantityAfter = (quantity: number, steps: number) =>
  quantityMin + ((quantity - quantityMin + steps) % (quantityMax - quantityMin + 1));

test("the generator in C is there if Linux and a C compiler are", () => {
  const isPossible = process.platform === "linux" && Bun.which("cc") !== null;
  expect(generators).toHaveLength(isPossible ? 2 : 1);
});

test.each(generators)(
  "%s: every connection updates its own pets in turn, and all responses count",
  async (language) => {
    const run = await load(language, respondCorrectly, {}, 40, 5);
    const { patch, get, seconds, throughput, generatorBusy } = run.measured;
    const sent = parse(run).sort((one, other) => one[0]!.petId - other[0]!.petId);
    expect(sent).toHaveLength(3);
    const quantityFirst = sent[0]![0]!.quantity;
    for (const [index, updates] of sent.entries()) {
      const pets = [1, 4, 7, 10].map((petId) => petId + index).filter((petId) => petId <= 10);
      expect(updates).toEqual(
        updates.map((_, at) => ({
          petId: pets[at % pets.length]!,
          quantity: quantityAfter(quantityFirst, index * 37 + at),
        })),
      );
    }
    expect(patch.requests).toBe(run.requests.flat().length);
    expect(get.requests).toBe(0);
    expect(seconds).toBeGreaterThanOrEqual(0.04);
    expect(throughput).toBeCloseTo(patch.requests / seconds);
    expect(generatorBusy).toBeWithin(0.001, 3);
    expect(patch.p50Ms).toBeGreaterThan(0);
    expect(patch.p99Ms).toBeGreaterThanOrEqual(patch.p50Ms);
    expect(patch.maxMs).toBeGreaterThanOrEqual(patch.p99Ms);
  },
);

test.each(generators)(
  "%s: connections that share a pet send different quantities",
  async (language) => {
    const run = await load(language, respondCorrectly, { connections: 4, entries: 2 });
    const sent = parse(run);
    const pets = sent.map((updates) => [...new Set(updates.map(({ petId }) => petId))]);
    expect(pets.sort()).toEqual([[1], [1], [2], [2]]);
    const firsts = sent.map(([first]) => first!);
    const isFirst = (one: number) =>
      firsts.some(({ quantity }) => quantity === quantityAfter(one, 3 * 37));
    const quantityFirst = firsts.map(({ quantity }) => quantity).find(isFirst)!;
    for (const [index, petId] of [1, 2, 1, 2].entries()) {
      expect(firsts).toContainEqual({ petId, quantity: quantityAfter(quantityFirst, index * 37) });
    }
  },
);

test.each(generators)(
  "%s: random pets are chosen from all pets of a connection",
  async (language) => {
    const run = await load(language, respondCorrectly, { isRandom: true }, 80, 60);
    const sent = parse(run);
    const pets = sent.map((updates) => [...new Set(updates.map(({ petId }) => petId))]);
    expect(pets.map((all) => all.sort((a, b) => a - b)).sort((a, b) => a[0]! - b[0]!)).toEqual([
      [1, 4, 7, 10],
      [2, 5, 8],
      [3, 6, 9],
    ]);
    // In turn, the same pet never comes twice in a row.
    const [updates] = sent;
    expect(updates!.some(({ petId }, at) => petId === updates![at - 1]?.petId)).toBe(true);
  },
);

test.each(generators)("%s: keys and fixed rates are sent", async (language) => {
  const keyed = await load(language, respondCorrectly, { sendsKeys: true });
  const keys = keyed.requests.flat().map((one) => /\r\nIdempotency-Key: "(.+)"\r\n/.exec(one)?.[1]);
  expect(new Set(keys).size).toBe(keyed.measured.patch.requests);
  expect(keys).not.toContain(undefined);
  const paced = await load(language, respondCorrectly, { perSecond: 100 }, 100);
  expect(paced.measured.patch.requests).toBeWithin(1, 11);
});

test.each(generators)("%s: a response may arrive in pieces", async (language) => {
  let at = 0;
  const { measured, requests } = await load(
    language,
    (socket, petId, quantity) => {
      const text = response(entry(petId, quantity));
      at = 1 + (at % (text.length - 1));
      socket.write(text.slice(0, at));
      const rest = text.slice(at);
      setTimeout(() => socket.write(rest));
    },
    { connections: 16, entries: 1000 },
    100,
    2,
  );
  expect(measured.patch.requests).toBe(requests.flat().length);
});

test.each(generators)(
  "%s: a response after the end of the run is awaited, and counts",
  async (language) => {
    const { measured } = await load(
      language,
      (...request) => {
        setTimeout(() => respondCorrectly(...request), 60);
      },
      {},
      20,
    );
    expect(measured.patch.requests).toBe(3);
    expect(measured.seconds).toBeGreaterThan(0.055);
    expect(measured.patch.p50Ms).toBeGreaterThan(55);
    expect(measured.patch.maxMs).toBeGreaterThanOrEqual(measured.patch.p50Ms);
  },
);

/** What is sent instead of the tenth response, and the error. */
const wrong: [what: string, respond: Respond, message: RegExp][] = [
  [
    "the quantity is wrong",
    (socket, petId, quantity) => socket.write(response(entry(petId, String(Number(quantity) + 1)))),
    /^stub: .*Pet \d+ was set to \d+, but the response is .*"quantity":\d+\}$/s,
  ],
  [
    "the quantity has more digits",
    (socket, petId, quantity) => socket.write(response(entry(petId, `${quantity}0`))),
    /^stub: .*Pet \d+ was set to \d+, but/,
  ],
  [
    "the pet is wrong",
    (socket, petId, quantity) => socket.write(response(entry(`${petId}1`, quantity))),
    /^stub: .*Pet \d+ was set to \d+, but/,
  ],
  [
    "a header is missing",
    (socket, petId, quantity) =>
      socket.write(
        response(entry(petId, quantity), limits.replace(/x-ratelimit-remaining.*\r\n/, "")),
      ),
    /^stub: .*Missing or invalid x-ratelimit-remaining: HTTP\/1.1 200 OK/,
  ],
  [
    "a header is not a number",
    (socket, petId, quantity) =>
      socket.write(response(entry(petId, quantity), limits.replace("RESET: 7", "RESET: 7s"))),
    /^stub: .*Missing or invalid x-ratelimit-reset: HTTP\/1.1 200 OK/,
  ],
  [
    "the status is 500",
    (socket) => socket.write(response("{}", limits, "500 Internal Server Error")),
    /^stub: .*Not a 200: HTTP\/1.1 500 Internal Server Error/,
  ],
  [
    "the length is missing",
    (socket) => socket.write(`HTTP/1.1 200 OK\r\n${limits}\r\n`),
    /^stub: .*(has no length|Missing or invalid content-length): HTTP\/1.1 200 OK/,
  ],
  [
    "the connection is closed",
    (socket) => socket.end(),
    /^stub: .*The server closed a connection\./,
  ],
  [
    "the connection is closed within a response",
    (socket) => socket.end(response("{}").slice(0, -1)),
    /^stub: .*The server closed a connection\./,
  ],
];

for (const [language] of generators) {
  test.each(wrong)(`${language}: a run fails if %s`, async (_, respond, message) => {
    let requests = 0;
    const run = load(
      language,
      (...request) => {
        if (++requests === 10) respond(...request);
        else respondCorrectly(...request);
      },
      {},
      30_000,
    );
    await expect(run).rejects.toThrow(message);
  });
}

test.each(generators)("%s: a server that is not there fails the run", async (language) => {
  const target = { host: "127.0.0.1", port: 1, key };
  const contestant = { name: "stub", pid: process.pid, target, startMs: 0, stop: async () => {} };
  const work = { kind: "patch", connections: 1, entries: 1 } as const;
  await expect(started.get(language)!.measure(contestant, work, 10)).rejects.toThrow(/^stub: ./);
});

test.each(generators)("%s: chunks are read by JavaScript only, and C says so", async (language) => {
  const run = load(language, (socket, petId, quantity) => {
    const body = entry(petId, quantity);
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    socket.write(`HTTP/1.1 200 OK\r\n${limits}Transfer-Encoding: chunked\r\n\r\n${chunk}`);
  });
  if (language === "C") await expect(run).rejects.toThrow("Missing or invalid content-length");
  else expect((await run).measured.patch.requests).toBeGreaterThan(2);
});
