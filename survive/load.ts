import type { Random } from "./random.ts";

/** What a check finds in a store. */
export interface Found {
  readonly quantities: ReadonlyMap<number, number>;
  /** Whether a key is revoked, by its id. */
  readonly keys: ReadonlyMap<string, boolean>;
  readonly webhooks: ReadonlySet<string>;
  /** The ids of keys that are or were banned. */
  readonly bans: ReadonlySet<string>;
}

/** Something that the service has acknowledged. It must be in the store from then on. */
export interface Told {
  /** The position when the response was there. */
  readonly position: number;
  readonly what: string;
  isIn(found: Found): boolean;
}

/** A quantity that a client has asked for. The store cannot have had it before. */
export interface Asked {
  readonly position: number;
  readonly petId: number;
  readonly quantity: number;
}

export interface Load {
  readonly told: Told[];
  readonly asked: Asked[];
}

export interface Target {
  /** The base URL of the API. It may change when the service starts again. */
  baseUrl(): string;
  readonly key: string;
  readonly operatorKey: string;
  /** A number that never decreases, such as the length of the log of the tracer. */
  position(): number;
  /** Decides what follows a request that failed: true to go on with the next one, once it resolves. */
  mayFail(error: Error): boolean | Promise<boolean>;
  /** How long each client waits after a success. 0 unless given. */
  readonly pauseMs?: number;
  /** Ends the load before its time. */
  isOver?(): boolean;
  /** Resolves when the next request may be sent. */
  pass?(): Promise<void>;
  /** Whether keys are banned too. Not if flushes fail: the service then stores a ban later than it begins. */
  readonly provokesBans?: boolean;
}

/** Pets that are set to increasing quantities, one client each. */
export const setPets = [1, 2, 3, 4, 5, 6, 7, 8];
/** Pets that batches increase by one, always both. */
export const batchPets = [11, 12] as const;
const webhookBody = '{"url":"http://127.0.0.1:1999/"}';
/** One for each pet that is set, one for batches, and an operator. */
export const clientsCount = setPets.length + 2;
const importedFrom = 1_000;
const importedCount = 300;

/** A request that got an answer, but not the one it asked for. */
export class Refused extends Error {
  readonly request: string;
  readonly body: string;
  readonly response: Response;
  readonly text: string;

  constructor(request: string, body: string, response: Response, text: string) {
    super(`${request}: ${response.status} ${text}`);
    this.request = request;
    this.body = body;
    this.response = response;
    this.text = text;
  }
}

/** The pets of an import, each with a quantity of 7. */
export function rowsToImport(round: number): { ids: readonly number[]; rows: string } {
  const first = importedFrom + round * importedCount;
  const ids = Array.from({ length: importedCount }, (_, at) => first + at);
  const rows = ids.map((petId) => `{"petId":${petId},"name":"Imported","quantity":7}`).join("\n");
  return { ids, rows };
}

/** Sends every kind of write until the time is over or the service is gone. Adds to `load` as it goes. */
export async function sendLoad(
  target: Target,
  random: Random,
  ms: number,
  load: Load = { told: [], asked: [] },
): Promise<Load> {
  const { told, asked } = load;
  const endsAt = performance.now() + ms;
  const isOver = () => performance.now() >= endsAt || target.isOver?.() === true;

  async function send(key: string, method: string, path: string, body: string, headers = {}) {
    const url = target.baseUrl();
    const response = await fetch((path.startsWith("/admin") ? new URL(url).origin : url) + path, {
      method,
      body,
      headers: { Authorization: `Bearer ${key}`, ...headers },
    });
    const text = await response.text();
    if (!response.ok) throw new Refused(`${method} ${path}`, body, response, text);
    return JSON.parse(text);
  }

  const tell = (what: string, isIn: Told["isIn"]) =>
    told.push({ position: target.position(), what, isIn });
  const ask = (petId: number, quantity: number) =>
    asked.push({ position: target.position(), petId, quantity });

  /** Does one piece of work. Returns false if it failed and the load goes on. */
  async function tried(work: () => Promise<void>): Promise<boolean> {
    try {
      await target.pass?.();
      await work();
      if (target.pauseMs) await Bun.sleep(target.pauseMs);
      return true;
    } catch (error) {
      if (!(await target.mayFail(error as Error))) throw error;
      await Bun.sleep(20);
      return false;
    }
  }

  async function setQuantities(petId: number): Promise<void> {
    for (let quantity = 1; !isOver(); quantity++) {
      await tried(async () => {
        ask(petId, quantity);
        await send(target.key, "PATCH", `/inventory/${petId}`, `{"quantity":${quantity}}`);
        tell(`pet ${petId} has ${quantity}`, (found) => found.quantities.get(petId)! >= quantity);
      });
    }
  }

  /** A batch that fails is sent again with the same key, so it is stored once. */
  async function sendBatches(): Promise<void> {
    for (let count = 1; !isOver(); ) {
      for (const petId of batchPets) ask(petId, count);
      const isDone = await tried(async () => {
        const changes = batchPets.map((petId) => ({ petId, delta: 1 }));
        const headers = { "Idempotency-Key": `batch-${count}` };
        await send(target.key, "POST", "/changes", JSON.stringify({ changes }), headers);
        const stored = count;
        tell(`batch ${stored}`, ({ quantities }) =>
          batchPets.every((petId) => quantities.get(petId)! >= stored),
        );
      });
      if (isDone) count += 1;
      await Bun.sleep(random.below(10));
    }
  }

  const work = { send, tell, tried, isOver };
  await Promise.all([
    ...setPets.map(setQuantities),
    sendBatches(),
    operate(target, random, work),
    ...(target.provokesBans ? [provokeBans(target, work)] : []),
  ]);
  return load;
}

interface Work {
  send(
    key: string,
    method: string,
    path: string,
    body: string,
  ): Promise<{ id: string; key: string }>;
  tell(what: string, isIn: Told["isIn"]): void;
  tried(work: () => Promise<void>): Promise<boolean>;
  isOver(): boolean;
}

/** Creates and revokes keys, creates webhooks and imports pets. */
async function operate(target: Target, random: Random, work: Work): Promise<void> {
  const { send, tell, tried, isOver } = work;
  const key = target.operatorKey;
  for (let round = 0; !isOver(); round++) {
    await tried(async () => {
      const made = await send(key, "POST", "/admin/keys", '{"name":"Till","plan":"pro"}');
      tell(`key ${made.id}`, ({ keys }) => keys.has(made.id));
      if (random.chance(0.5)) {
        await send(key, "POST", `/admin/keys/${made.id}/revoke`, "{}");
        tell(`key ${made.id} is revoked`, ({ keys }) => keys.get(made.id) === true);
      }
      if (random.chance(0.3)) {
        const webhook = await send(key, "POST", "/admin/webhooks", webhookBody);
        tell(`webhook ${webhook.id}`, ({ webhooks }) => webhooks.has(webhook.id));
      }
      if (random.chance(0.3)) {
        const { ids, rows } = rowsToImport(round);
        await send(key, "POST", "/admin/pets/import?format=ndjson", rows);
        tell(`import ${round}`, ({ quantities }) => ids.every((id) => quantities.get(id) === 7));
      }
    });
    await Bun.sleep(random.below(30));
  }
}

/** A key that does not stop at its limit is banned, after a second of that. */
async function provokeBans(target: Target, { send, tell, tried, isOver }: Work): Promise<void> {
  const create = (terms: object) =>
    send(target.operatorKey, "POST", "/admin/keys", JSON.stringify({ name: "Eager", ...terms }));
  while (!isOver()) {
    await tried(async () => {
      const made = await create({ plan: "enterprise", perMinute: 1, perDay: 1_000 });
      const headers = { Authorization: `Bearer ${made.key}` };
      for (let isBanned = false; !isBanned; await Bun.sleep(50)) {
        if (isOver()) return;
        const response = await fetch(`${target.baseUrl()}/inventory/1`, { headers });
        isBanned = (await response.text()).includes("key_banned");
      }
      // Nobody waits for the store to have the ban, but it has it before the second write after it.
      for (let write = 0; write < 2; write++) await create({ plan: "free" });
      tell(`ban of ${made.id}`, ({ bans }) => bans.has(made.id));
    });
  }
}

/** Returns what is wrong with a store as it was at this position. */
export function* findFaults({ told, asked }: Load, found: Found, position: number) {
  for (const one of told) {
    if (one.position <= position && !one.isIn(found))
      yield { wrong: "lost", what: one.what } as const;
  }
  for (const petId of [...setPets, ...batchPets]) {
    const most = asked.findLast((one) => one.petId === petId && one.position <= position);
    const quantity = found.quantities.get(petId)!;
    if (quantity > (most?.quantity ?? 0)) {
      const wrong = batchPets.some((one) => one === petId) ? "doubled" : "phantom";
      yield { wrong, what: `pet ${petId} has ${quantity}` } as const;
    }
  }
  const [first, second] = batchPets;
  if (found.quantities.get(first) !== found.quantities.get(second)) {
    yield { wrong: "wrong", what: "half of a batch is stored" } as const;
  }
  for (const petId of found.quantities.keys()) {
    const begin = petId - ((petId - importedFrom) % importedCount);
    if (petId >= importedFrom && !found.quantities.has(begin + importedCount - 1)) {
      yield { wrong: "wrong", what: "a part of an import is stored" } as const;
      return;
    }
  }
}
