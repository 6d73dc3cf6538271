/**
 * Counts the files of src/ that a request passes: those in which code inside a function runs for it.
 * `--list` also prints their names.
 *
 *   bun scripts/request-path.ts [--list]
 *
 * The counts come from the coverage of the runtime's inspector, in the main thread and in the writing
 * thread of SQLite, and in the processes that the service starts. Each request is sent many times. Code
 * counts that runs for at least half of them, so that neither background work nor what only the first
 * request needs is counted.
 */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Counts, channelName, type Message, startCoverage } from "./request-path/coverage.ts";

const withList = process.argv.includes("--list");
/** How often each request is sent. */
const repetitions = Number(process.env.REPS ?? 40);
const settleMs = 300;

/** The processes that the service starts write their counts here. */
const folder = mkdtempSync(join(tmpdir(), "petstore-path-"));
const coverage = resolve(import.meta.dir, "request-path/coverage.ts");
process.env.REQUEST_PATH_COUNTS = folder;
process.env.BUN_OPTIONS = `--preload=${coverage}`;

const ownCounts = await startCoverage();
const channel = new BroadcastChannel(channelName);
let workers = 0;
globalThis.Worker = class extends Worker {
  constructor(url: string | URL) {
    super(url, { preload: [coverage] });
    workers += 1;
  }
  override terminate(): void {
    workers -= 1;
    super.terminate();
  }
};

/** Returns what ran since the last call, in all threads. */
async function takeCounts(): Promise<Counts> {
  const all = [await ownCounts(), ...processCounts()];
  const own = all.length;
  const others = workers;
  const answered = new Promise<void>((done) => {
    channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data === "take") return;
      all.push(data);
      if (all.length === own + others) done();
    };
  });
  if (others > 0) {
    channel.postMessage("take");
    await answered;
  }
  const sums: Counts = new Map();
  for (const [place, count] of all.flatMap((counts) => [...counts])) {
    sums.set(place, (sums.get(place) ?? 0) + count);
  }
  return sums;
}

/** What ran in processes that have ended. */
function processCounts(): Counts[] {
  return readdirSync(folder).map((name) => {
    const file = join(folder, name);
    const counts: Counts = new Map(JSON.parse(readFileSync(file, "utf8")));
    rmSync(file);
    return counts;
  });
}

/** What runs while `work` is repeated. */
async function countsOf(work: () => Promise<unknown>): Promise<Counts> {
  // Once before, because the first request does more.
  await work();
  await Bun.sleep(settleMs);
  await takeCounts();
  for (let sent = 0; sent < repetitions; sent += 1) await work();
  await Bun.sleep(settleMs);
  return takeCounts();
}

/** The files that `work` passes, apart from what `rest` runs too. */
async function filesOf(work: () => Promise<unknown>, rest: Counts): Promise<string[]> {
  const passed = [...(await countsOf(work))].filter(
    ([place, count]) => count - (rest.get(place) ?? 0) > repetitions / 2,
  );
  return [...new Set(passed.map(([place]) => place.split(":")[0]!))].sort();
}

// Loaded now, because only code that is loaded later than the start of the coverage is counted.
const { startWebhookService } = await import("../test/support/webhooks/service.ts");
const { startReceiver } = await import("../test/support/webhooks/receiver.ts");
const { issueOperator } = await import("../test/support/admin/operators.ts");
const { startTestService } = await import("../test/support/service.ts");
const { program } = await import("../test/support/program.ts");

function print(title: string, files: readonly string[]): void {
  console.log(`${String(files.length).padStart(4)}  ${title}`);
  if (withList) for (const file of files) console.log(`      ${file}`);
}

for (const engine of ["sqlite", "postgres"] as const) {
  const calm = { renewEveryMs: 60_000, renewLocallyEveryMs: 60_000 };
  const service = await startWebhookService(engine, calm);
  const { text: key } = await service.issueKey();
  const { text: operator } = await issueOperator(service);
  const send = async (method: string, path: string, secret: string, body?: string) => {
    const headers = { authorization: `Bearer ${secret}` };
    const response = await fetch(new URL(path, service.baseUrl), {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    await response.text();
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status}`);
  };
  let quantity = 0;
  const patch = (path: string, secret: string) => () =>
    send("PATCH", path, secret, JSON.stringify({ quantity: ++quantity }));
  const requests = {
    "GET /v1/inventory": () => send("GET", "/v1/inventory", key),
    "PATCH /v1/inventory/1": patch("/v1/inventory/1", key),
    "PATCH /admin/stock/1": patch("/admin/stock/1", operator),
  };
  const idle = await countsOf(() => Bun.sleep(settleMs / repetitions));
  for (const [title, request] of Object.entries(requests)) {
    print(`${title}, ${engine}`, await filesOf(request, idle));
  }
  const change = () => service.change(++quantity);
  const withoutDelivery = await countsOf(change);
  const receiver = await startReceiver();
  await service.create({ url: receiver.url });
  await service.restart();
  const deliver = async () => {
    const seq = await change();
    await service.becomes(() => receiver.confirmed.at(-1) === seq);
  };
  print(`a webhook delivery, ${engine}`, await filesOf(deliver, withoutDelivery));
  await receiver.stop();
  await service.stop();
  await printLongWork(engine);
}
rmSync(folder, { recursive: true });
process.exit(0);

/** A change by an assistant, and what runs in a process of its own. */
async function printLongWork(engine: "sqlite" | "postgres"): Promise<void> {
  const { createTestClock } = await import("../test/support/clock.ts");
  const clock = createTestClock(Date.now());
  const service = await startTestService(engine, { mcp: "on" }, {}, { program, clock });
  await service.addPets({ petId: 1n, quantity: 1_000 });
  const { text: key } = await service.issueKey();
  const { text: operator } = await issueOperator(service);
  const post = async (path: string, secret: string, body: unknown) => {
    const sent = { key: secret, body: JSON.stringify(body) };
    const response = await service.call("POST", path, sent);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${response.text}`);
    return response;
  };
  const changes = [{ petId: 1, delta: 1 }];
  const call = { name: "change_stock", arguments: { changes, reason: "path" } };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: call };
  const undo = async () => {
    const { headers } = await post("/changes", key, { changes });
    await post(`~/admin/changes/undo?request=${headers.get("X-Request-Id")}`, operator, {});
  };
  const idle = await countsOf(() => Bun.sleep(settleMs / repetitions));
  const changed = await countsOf(() => post("/changes", key, { changes }));
  const change = () => post("~/mcp", key, message);
  print(`a change by an assistant, ${engine}`, await filesOf(change, idle));
  print(`POST /admin/changes/undo, ${engine}`, await filesOf(undo, changed));
  await service.stop();
}
