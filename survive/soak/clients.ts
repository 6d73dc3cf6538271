// What clients do in a shop all day, with a check of every answer.
import { Histogram } from "../../bench/histogram.ts";
import { fieldsOf } from "../../test/support/feed.ts";
import { batchPets } from "../load.ts";
import type { Wrong } from "../part.ts";
import type { Random } from "../random.ts";
import type { ServedStore } from "../served.ts";

/** Pets whose quantities only increase. Each has one update under way at most. */
export const countedPets = Array.from({ length: 64 }, (_, at) => 101 + at);
const importedPets = Array.from({ length: 50 }, (_, at) => 1_001 + at);

/** An open loop sends nothing more while this many answers are missing. */
const underWayMax = 100;

export interface Clients {
  /** Sends the mix on this many connections, as fast as they are answered. Returns requests per second. */
  sendAll(connections: number, ms: number): Promise<number>;
  /** Sends the mix at this rate, whenever the answers come. */
  sendPaced(perSecond: number, endsAt: number): Promise<void>;
  /** Opens and closes a stream of the feed, and continues where the last one ended. */
  followFeed(endsAt: number): Promise<void>;
  operate(endsAt: number, backupEveryMs: number): Promise<void>;
  /** Latencies since the last call. */
  latencies(): Histogram;
  readonly acknowledged: number;
  /** Requests that were not sent, because too many were under way. */
  readonly skipped: number;
  /** Streams that were left, and batches that were sent twice. */
  readonly faults: number;
  /** The last row that a webhook has delivered. */
  readonly deliveredSeq: () => number;
  /** Compares the store with what clients were told. */
  compare(quantities: ReadonlyMap<number, number>): void;
  leave(): Promise<void>;
}

export async function createClients(
  { baseUrl, key, operatorKey, engine }: ServedStore,
  random: Random,
  report: (wrong: Wrong, what: string) => void,
): Promise<Clients> {
  const asked = new Map(countedPets.map((petId) => [petId, 0]));
  const told = new Map(asked);
  const free = [...countedPets];
  let batchesAsked = 0;
  let batchesTold = 0;
  let acknowledged = 0;
  let skipped = 0;
  let faults = 0;
  let underWay = 0;
  let histogram = new Histogram();
  const fail = (wrong: Wrong, what: string) => report(wrong, `${engine}: ${what}`);
  const receiver = createReceiver(fail);
  await call("POST", "/admin/webhooks", { body: `{"url":"${receiver.url}"}`, status: 201 });

  /** Sends a request, which must get this status. Returns the body. */
  async function call(
    method: string,
    path: string,
    {
      status = 200,
      body,
      headers = {},
      as = path.startsWith("/admin") ? operatorKey : key,
    }: { status?: number; body?: string; headers?: Record<string, string>; as?: string } = {},
  ): Promise<string> {
    const base = path.startsWith("/admin") ? new URL(baseUrl).origin : baseUrl;
    const response = await fetch(base + path, {
      method,
      headers: { Authorization: `Bearer ${as}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    if (response.status === status) return text;
    throw new Error(`${method} ${path}: ${response.status} ${text}`);
  }

  /** A quantity that was read must be at least what was told before, and at most what was asked. */
  function checkQuantity(petId: number, quantity: number, before: number): void {
    if (quantity < before) fail("lost", `pet ${petId} has ${quantity} instead of ${before}`);
    if (quantity > asked.get(petId)!) fail("phantom", `pet ${petId} has ${quantity}`);
  }

  async function update(): Promise<void> {
    const petId = free.shift();
    if (petId === undefined) return void skipped++;
    const quantity = asked.get(petId)! + 1;
    asked.set(petId, quantity);
    try {
      await call("PATCH", `/inventory/${petId}`, { body: `{"quantity":${quantity}}` });
      told.set(petId, quantity);
      acknowledged += 1;
    } finally {
      free.push(petId);
    }
  }

  async function readEntry(): Promise<void> {
    const petId = random.pick(countedPets);
    const before = told.get(petId)!;
    const { quantity } = JSON.parse(await call("GET", `/inventory/${petId}`));
    checkQuantity(petId, quantity, before);
  }

  async function readList(): Promise<void> {
    const before = new Map(told);
    const list: { petId: number; quantity: number }[] = JSON.parse(await call("GET", "/inventory"));
    const quantities = new Map(list.map(({ petId, quantity }) => [petId, quantity]));
    for (const petId of countedPets)
      checkQuantity(petId, quantities.get(petId) ?? -1, before.get(petId)!);
  }

  async function readHistory(): Promise<void> {
    const petId = random.pick(countedPets);
    const before = told.get(petId)!;
    const rows = JSON.parse(await call("GET", `/inventory/${petId}/history?limit=20`));
    checkQuantity(petId, rows[0].after.quantity, before);
  }

  async function readSnapshot(): Promise<void> {
    const { seq } = JSON.parse(await call("GET", "/changes/head"));
    const at = Math.max(countedPets.length, seq - random.below(1_000));
    const text = await call("GET", `/snapshots/${at}`);
    const entries = text.split('"petId":').length - 1;
    if (entries < countedPets.length) fail("wrong", `a snapshot has ${entries} entries`);
  }

  /** Some batches are sent twice, as after a lost answer. They must be stored once. */
  async function sendBatch(): Promise<void> {
    batchesAsked += 1;
    const changes = batchPets.map((petId) => ({ petId, delta: 1 }));
    const body = JSON.stringify({ changes });
    const request = { body, headers: { "Idempotency-Key": `batch-${batchesAsked}` } };
    const first = await call("POST", "/changes", request);
    batchesTold += 1;
    acknowledged += 1;
    if (random.chance(0.9)) return;
    faults += 1;
    if ((await call("POST", "/changes", request)) !== first)
      fail("wrong", "a repeated batch got another answer");
  }

  const mix = [
    ...Array(30).fill(readList),
    ...Array(28).fill(readEntry),
    ...Array(30).fill(update),
    ...Array(6).fill(sendBatch),
    ...Array(5).fill(readHistory),
    readSnapshot,
  ] as (() => Promise<void>)[];

  /** Does one thing of the mix. Only reads and updates count for latencies: they take about the same. */
  async function sendOne(): Promise<void> {
    const work = random.pick(mix);
    const begunAt = performance.now();
    underWay += 1;
    try {
      await work();
      if (work !== readSnapshot) histogram.add(performance.now() - begunAt);
    } catch (error) {
      fail("wrong", String(error));
    } finally {
      underWay -= 1;
    }
  }

  /** Repeats work until the time is over. What fails is reported, and tried again. */
  async function repeat(endsAt: number, work: () => Promise<void>): Promise<void> {
    while (performance.now() < endsAt) await work().catch((error) => fail("wrong", String(error)));
  }

  return {
    async sendAll(connections, ms) {
      const endsAt = performance.now() + ms;
      let sent = 0;
      const counted = () => sendOne().then(() => void sent++);
      await Promise.all(Array.from({ length: connections }, () => repeat(endsAt, counted)));
      return (sent * 1_000) / ms;
    },
    async sendPaced(perSecond, endsAt) {
      for (let dueAt = performance.now(); performance.now() < endsAt; await Bun.sleep(3)) {
        for (; dueAt <= performance.now(); dueAt += 1_000 / perSecond) {
          if (underWay < underWayMax) void sendOne();
          else skipped += 1;
        }
      }
      while (underWay > 0) await Bun.sleep(5);
    },
    async followFeed(endsAt) {
      let last: { id: string; seq: number } | undefined;
      await repeat(endsAt, async () => {
        const stayMs = Math.min(200 + random.below(4_000), endsAt - performance.now());
        faults += 1;
        last = await readFeed(baseUrl, key, last, Math.max(1, stayMs), fail);
      });
    },
    async operate(endsAt, backupEveryMs) {
      let backupAt = performance.now() + backupEveryMs / 2;
      for (let turn = 1; performance.now() < endsAt; turn++) {
        await useKey().catch((error) => fail("wrong", String(error)));
        if (turn % 10 === 2) await importPets(turn).catch((error) => fail("wrong", String(error)));
        if (performance.now() > backupAt) {
          backupAt += backupEveryMs;
          await call("POST", "/admin/backups", { status: 201 }).catch((error) =>
            fail("wrong", String(error)),
          );
        }
        await Bun.sleep(500 + random.below(1_000));
      }
    },
    latencies() {
      const recorded = histogram;
      histogram = new Histogram();
      return recorded;
    },
    get acknowledged() {
      return acknowledged;
    },
    get skipped() {
      return skipped;
    },
    get faults() {
      return faults;
    },
    deliveredSeq: receiver.lastSeq,
    compare(quantities) {
      for (const [petId, quantity] of told) checkQuantity(petId, quantities.get(petId)!, quantity);
      for (const petId of batchPets) {
        const stored = quantities.get(petId)!;
        if (stored < batchesTold)
          fail("lost", `${batchesTold} batches, but pet ${petId} has ${stored}`);
        if (stored > batchesAsked)
          fail("doubled", `${batchesAsked} batches, but pet ${petId} has ${stored}`);
      }
    },
    leave: receiver.stop,
  };

  /** A new key works until it is revoked, and not afterwards. */
  async function useKey(): Promise<void> {
    const made = JSON.parse(
      await call("POST", "/admin/keys", { body: '{"name":"Till","plan":"pro"}', status: 201 }),
    );
    await call("GET", "/inventory/101", { as: made.key });
    await call("POST", `/admin/keys/${made.id}/revoke`, { body: "{}" });
    await call("GET", "/inventory/101", { as: made.key, status: 401 });
  }

  async function importPets(quantity: number): Promise<void> {
    const rows = importedPets.map((petId) => JSON.stringify({ petId, name: "Imported", quantity }));
    await call("POST", "/admin/pets/import?format=ndjson", { body: rows.join("\n") });
    for (const petId of importedPets.slice(0, 2)) {
      const entry = JSON.parse(await call("GET", `/inventory/${petId}`));
      if (entry.quantity !== quantity) fail("lost", `imported pet ${petId} has ${entry.quantity}`);
    }
  }
}

interface LastEvent {
  readonly id: string;
  readonly seq: number;
}

/** Reads the feed for some time. Its changes must have no gap. Returns the last event. */
async function readFeed(
  baseUrl: string,
  key: string,
  from: LastEvent | undefined,
  ms: number,
  fail: (wrong: Wrong, what: string) => void,
): Promise<LastEvent | undefined> {
  const signal = AbortSignal.timeout(ms);
  let last = from;
  try {
    const response = await fetch(`${baseUrl}/changes`, {
      headers: {
        Authorization: `Bearer ${key}`,
        Accept: "text/event-stream",
        ...(last ? { "Last-Event-ID": last.id } : {}),
      },
      signal,
    });
    if (response.status !== 200) throw new Error(`the feed: ${response.status}`);
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of response.body!) {
      const blocks = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
      text = blocks.pop()!;
      for (const { event, id = "", data = "" } of blocks.map(fieldsOf)) {
        if (event === undefined) continue;
        const { seq } = JSON.parse(data);
        const isNext = !last || seq === last.seq + (event === "change" ? 1 : 0);
        if (!isNext) fail("lost", `the feed has ${event} ${seq} after ${last!.seq}`);
        last = { id, seq };
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return last;
}

/** Receives webhooks. A message may come twice, but none may be missing. */
function createReceiver(fail: (wrong: Wrong, what: string) => void) {
  let last: number | undefined;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { data } = (await request.json()) as { data: { changes: { seq: number }[] } };
      for (const { seq } of data.changes) {
        if (last !== undefined && seq > last + 1)
          fail("lost", `a webhook has ${seq} after ${last}`);
        last = Math.max(seq, last ?? 0);
      }
      return new Response(null, { status: 204 });
    },
  });
  return { url: server.url.href, lastSeq: () => last ?? 0, stop: () => server.stop(true) };
}
