// Clients that update and read the same pets, and know what they were told about them.
import { Histogram } from "../bench/histogram.ts";
import { fetchTrust } from "../test/support/tls.ts";
import type { Wrong } from "./part.ts";
import type { Random } from "./random.ts";
import type { ServedStore } from "./served.ts";

/** Pets whose quantities only increase. Each has one update under way at most. */
export const countedPets = Array.from({ length: 64 }, (_, at) => 101 + at);

/** An open loop sends nothing more while this many answers are missing. */
const underWayMax = 100;

/** What an answer tells clients besides its body is checked elsewhere. */
export interface Call {
  /** The status that the answer must have. */
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  /** Another key than the one of the API or of the operator. */
  readonly key?: string;
}

export type Work = () => Promise<void>;

export interface Shoppers {
  /** Sends a request and returns the body. Rejects if the status is another one. */
  call(method: string, path: string, call?: Call): Promise<string>;
  update: Work;
  readEntry: Work;
  readList: Work;
  readHistory: Work;
  /** Does something of the mix on this many connections, as fast as they can. Returns the rate. */
  sendAll(mix: readonly Work[], connections: number, ms: number): Promise<number>;
  /** Does something of the mix at this rate, whenever the answers come. */
  sendPaced(mix: readonly Work[], perSecond: number, endsAt: number): Promise<void>;
  /** Latencies of the mix since the last call. */
  latencies(): Histogram;
  readonly acknowledged: number;
  /** What was not sent, because too much was under way. */
  readonly skipped: number;
  /** Compares the store with what clients were told. */
  compare(quantities: ReadonlyMap<number, number>): void;
}

export function createShoppers(
  served: ServedStore,
  random: Random,
  fail: (wrong: Wrong, what: string) => void,
): Shoppers {
  const asked = new Map(countedPets.map((petId) => [petId, 0]));
  const told = new Map(asked);
  const free = [...countedPets];
  let acknowledged = 0;
  let skipped = 0;
  let underWay = 0;
  let histogram = new Histogram();
  const call = createCaller(served);

  /** A quantity that was read must be at least what was told before, and at most what was asked. */
  function checkQuantity(petId: number, quantity: number | undefined, before: number): void {
    const has = `pet ${petId} has ${quantity}`;
    if (quantity === undefined || quantity < before) fail("lost", `${has} instead of ${before}`);
    else if (quantity > asked.get(petId)!) fail("phantom", has);
  }

  async function read(path: string, find: (text: string) => number): Promise<void> {
    const petId = random.pick(countedPets);
    const before = told.get(petId)!;
    checkQuantity(petId, find(await call("GET", path.replace("ID", String(petId)))), before);
  }

  async function sendOne(mix: readonly Work[]): Promise<void> {
    const begunAt = performance.now();
    underWay += 1;
    try {
      await random.pick(mix)();
      histogram.add(performance.now() - begunAt);
    } catch (error) {
      fail("wrong", String(error));
    } finally {
      underWay -= 1;
    }
  }

  function compare(quantities: ReadonlyMap<number, number>, before = told): void {
    for (const [petId, quantity] of before) checkQuantity(petId, quantities.get(petId), quantity);
  }

  return {
    call,
    async update() {
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
    },
    readEntry: () => read("/inventory/ID", (text) => JSON.parse(text).quantity),
    readHistory: () =>
      read("/inventory/ID/history?limit=20", (text) => JSON.parse(text)[0].after.quantity),
    async readList() {
      const before = new Map(told);
      const list: { petId: number; quantity: number }[] = JSON.parse(
        await call("GET", "/inventory"),
      );
      compare(new Map(list.map(({ petId, quantity }) => [petId, quantity])), before);
    },
    sendAll: (mix, connections, ms) => repeat(connections, ms, () => sendOne(mix)),
    async sendPaced(mix, perSecond, endsAt) {
      for (let dueAt = performance.now(); performance.now() < endsAt; await Bun.sleep(3)) {
        for (; dueAt <= performance.now(); dueAt += 1_000 / perSecond) {
          if (underWay < underWayMax) void sendOne(mix);
          else skipped += 1;
        }
      }
      while (underWay > 0) await Bun.sleep(5);
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
    compare,
  };
}

function createCaller({ baseUrl, key, operatorKey }: ServedStore): Shoppers["call"] {
  return async (method, path, { status = 200, body, headers, ...more } = {}) => {
    const isOperator = path.startsWith("/admin");
    const url = (isOperator ? new URL(baseUrl).origin : baseUrl) + path;
    const by = more.key ?? (isOperator ? operatorKey : key);
    const response = await fetch(url, {
      method,
      headers: { Authorization: `Bearer ${by}`, ...headers },
      ...(body === undefined ? {} : { body }),
      ...fetchTrust(url),
    });
    const text = await response.text();
    if (response.status === status) return text;
    throw new Error(`${method} ${path}: ${response.status} ${text}`);
  };
}

/** Repeats work on this many connections. Returns how often it was done per second. */
async function repeat(connections: number, ms: number, work: Work): Promise<number> {
  const endsAt = performance.now() + ms;
  let done = 0;
  const one = async () => {
    for (; performance.now() < endsAt; done++) await work();
  };
  await Promise.all(Array.from({ length: connections }, one));
  return (done * 1_000) / ms;
}
