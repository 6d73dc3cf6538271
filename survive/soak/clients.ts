// What clients of a shop do all day, besides updates and reads, with a check of every answer.
import { fieldsOf } from "../../test/support/feed.ts";
import { batchPets, setPets } from "../load.ts";
import type { Wrong } from "../part.ts";
import type { Random } from "../random.ts";
import { countedPets, type Shoppers, type Work } from "../shoppers.ts";

const importedPets = Array.from({ length: 50 }, (_, at) => 1_001 + at);
/** The first rows of the ledger, which create the pets. */
const startRows = setPets.length + batchPets.length + countedPets.length;

type Fail = (wrong: Wrong, what: string) => void;

export interface Clients {
  readonly mix: readonly Work[];
  /** Opens and closes streams of the feed. Each continues where the last one ended. */
  followFeed(baseUrl: string, key: string, endsAt: number): Promise<void>;
  /** Reads one snapshot after the other: a key may have only a few at once. */
  readSnapshots(endsAt: number): Promise<void>;
  /** Creates and revokes keys, imports, and makes backups. */
  operate(endsAt: number, backupEveryMs: number): Promise<void>;
  /** Batches that were acknowledged. */
  readonly acknowledged: number;
  /** Streams that were left, and batches that were sent twice. */
  readonly faults: number;
  compareBatches(quantities: ReadonlyMap<number, number>): void;
}

export function createClients(shoppers: Shoppers, random: Random, fail: Fail): Clients {
  const { call, update, readEntry, readList, readHistory } = shoppers;
  let asked = 0;
  let acknowledged = 0;
  let faults = 0;

  async function readSnapshot(): Promise<void> {
    const { seq } = JSON.parse(await call("GET", "/changes/head"));
    const earlier = Math.min(1_000, seq - startRows + 1);
    const text = await call("GET", `/snapshots/${seq - random.below(earlier)}`);
    const entries = text.split('"petId":').length - 1;
    if (entries < countedPets.length) fail("wrong", `a snapshot has ${entries} entries`);
  }

  /** Some batches are sent twice, as after a lost answer. They must be stored once. */
  async function sendBatch(): Promise<void> {
    asked += 1;
    const body = JSON.stringify({ changes: batchPets.map((petId) => ({ petId, delta: 1 })) });
    const request = { body, headers: { "Idempotency-Key": `batch-${asked}` } };
    const first = await call("POST", "/changes", request);
    acknowledged += 1;
    if (random.chance(0.9)) return;
    faults += 1;
    if ((await call("POST", "/changes", request)) !== first)
      fail("wrong", "a repeated batch got another answer");
  }

  /** A new key works until it is revoked, and not afterwards. */
  async function useKey(): Promise<void> {
    const body = '{"name":"Till","plan":"pro"}';
    const { id, key } = JSON.parse(await call("POST", "/admin/keys", { body, status: 201 }));
    await call("GET", "/inventory/101", { key });
    await call("POST", `/admin/keys/${id}/revoke`, { body: "{}" });
    await call("GET", "/inventory/101", { key, status: 401 });
  }

  async function importPets(quantity: number): Promise<void> {
    const rows = importedPets.map((petId) => JSON.stringify({ petId, name: "Imported", quantity }));
    await call("POST", "/admin/pets/import?format=ndjson", { body: rows.join("\n") });
    const entry = JSON.parse(await call("GET", `/inventory/${importedPets[0]}`));
    if (entry.quantity !== quantity) fail("lost", `an imported pet has ${entry.quantity}`);
  }

  /** Tries work whose failure must not end the round. */
  const tried = (work: Promise<void>) => work.catch((error) => fail("wrong", String(error)));
  const times = (count: number, work: Work) => Array<Work>(count).fill(work);

  return {
    mix: [
      ...times(30, readList),
      ...times(28, readEntry),
      ...times(30, update),
      ...times(6, sendBatch),
      ...times(6, readHistory),
    ],
    async followFeed(baseUrl, key, endsAt) {
      const feed = createFeed(baseUrl, key, fail);
      while (performance.now() < endsAt) {
        faults += 1;
        await tried(feed.read(Math.min(200 + random.below(4_000), endsAt - performance.now() + 1)));
      }
    },
    async readSnapshots(endsAt) {
      while (performance.now() < endsAt) {
        await tried(readSnapshot());
        await Bun.sleep(random.below(1_000));
      }
    },
    async operate(endsAt, backupEveryMs) {
      let backupAt = performance.now() + backupEveryMs / 2;
      for (let turn = 1; performance.now() < endsAt; turn++) {
        await tried(useKey());
        if (turn % 10 === 2) await tried(importPets(turn));
        if (performance.now() > backupAt) {
          backupAt += backupEveryMs;
          await tried(call("POST", "/admin/backups", { status: 201 }).then(() => {}));
        }
        await Bun.sleep(500 + random.below(1_000));
      }
    },
    get acknowledged() {
      return acknowledged;
    },
    get faults() {
      return faults;
    },
    compareBatches(quantities) {
      for (const petId of batchPets) {
        const stored = quantities.get(petId)!;
        if (stored < acknowledged) fail("lost", `${acknowledged} batches, stored ${stored}`);
        if (stored > asked) fail("doubled", `${asked} batches, stored ${stored}`);
      }
    },
  };
}

/** A client of the feed that leaves and comes back. The changes must have no gap. */
function createFeed(baseUrl: string, key: string, fail: Fail) {
  let last: { readonly id: string; readonly seq: number } | undefined;

  function take(block: string): void {
    const { event, id = "", data = "" } = fieldsOf(block);
    if (event === undefined) return;
    const { seq } = JSON.parse(data);
    if (last && seq !== last.seq + (event === "change" ? 1 : 0))
      fail("lost", `the feed has ${event} ${seq} after ${last.seq}`);
    last = { id, seq };
  }

  return {
    async read(ms: number): Promise<void> {
      const signal = AbortSignal.timeout(ms);
      const headers = { Authorization: `Bearer ${key}`, Accept: "text/event-stream" };
      const from = last ? { "Last-Event-ID": last.id } : {};
      try {
        const response = await fetch(`${baseUrl}/changes`, {
          headers: { ...headers, ...from },
          signal,
        });
        if (response.status !== 200) throw new Error(`the feed: ${response.status}`);
        const decoder = new TextDecoder();
        let text = "";
        for await (const bytes of response.body!) {
          const blocks = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
          text = blocks.pop()!;
          for (const block of blocks) take(block);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}

/** Receives webhooks. A message may come twice, but none may be missing. */
export function createReceiver(fail: Fail) {
  let last = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { data } = (await request.json()) as { data: { changes: { seq: number }[] } };
      for (const { seq } of data.changes) {
        if (last > 0 && seq > last + 1) fail("lost", `a webhook has ${seq} after ${last}`);
        last = Math.max(seq, last);
      }
      return new Response(null, { status: 204 });
    },
  });
  return { url: server.url.href, lastSeq: () => last, stop: () => server.stop(true) };
}
