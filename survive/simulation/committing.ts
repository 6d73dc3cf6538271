// Clients that write and read through one to three instances, and what they must never see.
import { createCommitter } from "../../src/domain/commits/commits.ts";
import { createFollower } from "../../src/domain/inventory/follower.ts";
import { createHeadWatcher } from "../../src/domain/ledger/head.ts";
import type { Change, LedgerRow, Stored, Unit } from "../../src/domain/ledger/ledger.ts";
import { monotonicMs } from "../../src/domain/running/background.ts";
import { ServiceError } from "../../src/domain/running/errors.ts";
import { createReplica } from "../../test/support/follower.ts";
import type { Random } from "../random.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import type { Process } from "./process.ts";
import type { World } from "./time.ts";

const pets = 6;
const timeoutMs = 9_000;
/** Timers may be late. */
const slackMs = 50;
const keptMs = 3_600_000;

export const grouping = {
  embedded: { transactionsMax: 1, overlapMin: 0, callersMax: 0, waitMsMax: 0 },
  // Few callers are simulated, so fewer of them make a group than in the service.
  server: { transactionsMax: 3, overlapMin: 3, callersMax: 8, waitMsMax: 5 },
};

/** One request of a client. A repeated request with an idempotency key is another one. */
interface Request {
  readonly unit: Unit;
  readonly sentAt: number;
  /** The last row that any client had seen when this was sent. */
  readonly seen: number;
  answer: "none" | "stored" | "refused" | "unknown";
  answeredAt: number;
}

type Instance = Awaited<ReturnType<typeof startInstance>>;

export async function committing(world: World): Promise<void> {
  const { random } = world;
  const isEmbedded = random.chance(0.3);
  const checks = createChecks(world);
  const ledger = createLedger(world, isEmbedded, pets, checks.stored);
  checks.watch(ledger);
  const count = isEmbedded ? 1 : 1 + random.below(3);
  const start = () => startInstance(world, ledger, isEmbedded);
  const instances = await Promise.all(Array.from({ length: count }, start));
  let left = 40 + random.below(160);

  async function crash(): Promise<void> {
    const at = random.below(count);
    const instance = instances[at]!;
    world.record(`crash ${at}`);
    instance.crash();
    await world.sleep(random.below(50));
    instances[at] = await start();
  }

  async function client(): Promise<void> {
    while (left-- > 0) {
      const instance = random.pick(instances);
      if (random.chance(0.3)) await checks.read(instance);
      else await checks.update(instance, () => random.pick(instances));
      await world.delay(random.pick([0, 2, 20]), 0.01, 600);
      if (world.breaks(0.004) && instances.every(({ process }) => process.isAlive)) await crash();
    }
  }

  await Promise.all(Array.from({ length: 2 + random.below(12) }, client));
  world.calm();
  await world.sleep(2 * timeoutMs);
  checks.end();
  for (const instance of instances) await checks.read(instance);
}

/** The parts of a service that write and read, composed as in the service. */
async function startInstance(world: World, ledger: Ledger, isEmbedded: boolean) {
  const process: Process = { isAlive: true };
  const crashed = Promise.withResolvers<"crashed">();
  ledger.begin();
  const store = ledger.connect(process);
  const head = createHeadWatcher(store, world.log);
  const { replica, shown } = createReplica(world.random.pick([0, 1_000_000]));
  const follower = createFollower({ ...store, readHead: head.readHead }, replica, world.log);
  while (!(await succeeds(follower.catchUp()))) await world.sleep(100);
  head.subscribe({ rowsCommitted: follower.committed, headMoved: follower.headMoved });
  const bounds = {
    groupMax: world.random.pick([4, 64]),
    queueMax: world.random.pick([8, 1_000]),
    timeoutMs,
    grouping: isEmbedded ? grouping.embedded : grouping.server,
  };
  const committer = createCommitter(store, bounds, monotonicMs, head.committed);
  return {
    process,
    crashed: crashed.promise,
    crash() {
      process.isAlive = false;
      head.stop();
      crashed.resolve("crashed");
    },
    submit: (unit: Unit, signal: AbortSignal) => committer.submit(unit, signal),
    /** Returns what a request for the list shows. */
    async list() {
      await follower.catchUp(head.cachedHead());
      return { ...shown };
    },
  };
}

async function succeeds(work: unknown): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/** What was asked, told and stored. */
function createRecords(world: World) {
  const { fail } = world;
  const requests = new Map<string, Request>();
  /** The first row of each request and of each idempotency key. */
  const firstRows = new Map<string, number>();
  /** The stock after each row, as a reader should see it. */
  const states: ReadonlyMap<bigint, number>[] = [
    new Map(Array.from({ length: pets }, (_, at) => [BigInt(at + 1), 0])),
  ];
  /** The last row that any client has seen, and when the last request that is acknowledged was sent. */
  const told = { seen: 0, lastSentAt: 0 };

  function stored(rows: readonly LedgerRow[]): void {
    for (const { seq, petId, before, after, requestId } of rows) {
      const request = requests.get(requestId!);
      if (seq !== states.length) fail("wrong", `row ${seq} follows row ${states.length - 1}`);
      const state = new Map(states.at(-1)!);
      if (before!.quantity !== state.get(petId)) fail("wrong", `row ${seq} has another before`);
      states.push(state.set(petId, after!.quantity));
      if (!request) fail("phantom", `row ${seq} was never asked for`);
      else storedOf(request, seq);
    }
    const units = new Set(rows.map(({ requestId }) => requestId!));
    for (const id of units) {
      const unit = requests.get(id)?.unit;
      if (!unit) continue;
      const own = rows.filter(({ requestId }) => requestId === id).length;
      if (own !== unit.changes.length)
        fail("wrong", `${own} of ${unit.changes.length} changes of ${id}`);
      for (const name of [id, unit.idempotency?.key]) {
        if (name === undefined) continue;
        if (firstRows.has(name)) fail("doubled", `${name} was stored twice`);
        firstRows.set(name, rows.find(({ requestId }) => requestId === id)!.seq);
      }
    }
  }

  function storedOf({ answer, answeredAt, unit }: Request, seq: number): void {
    if (answer === "refused") fail("late", `${unit.requestId} was refused, and is row ${seq}`);
    if (answer === "stored") fail("late", `${unit.requestId} was acknowledged before row ${seq}`);
    if (answer === "unknown" && told.lastSentAt > answeredAt)
      fail("late", `${unit.requestId}, whose outcome was unknown, is row ${seq}`);
  }

  function acknowledged(request: Request, outcome: Stored, rows: readonly LedgerRow[]): void {
    const { unit, seen: seenBefore } = request;
    world.acknowledged();
    for (const [at, { petId, quantity, version }] of outcome.entries.entries()) {
      const row = rows[version - 1];
      const isOwn = petId === unit.changes[at]!.petId;
      if (!row) fail("lost", `row ${version} of ${unit.requestId} is not there`);
      else if (!isOwn || row.petId !== petId || row.after!.quantity !== quantity)
        fail("wrong", `${unit.requestId} got an entry of another row`);
      const own = outcome.isReplayed ? unit.idempotency!.key : unit.requestId!;
      if (version !== firstRows.get(own)! + at) fail("wrong", `${own} got row ${version}`);
      if (!outcome.isReplayed && version <= seenBefore)
        fail("wrong", `${unit.requestId} is row ${version}, but ${seenBefore} was seen before it`);
      told.seen = Math.max(told.seen, version);
    }
    if (!outcome.isReplayed) told.lastSentAt = Math.max(told.lastSentAt, request.sentAt);
  }

  return { requests, firstRows, states, told, stored, acknowledged };
}

/** Clients, and the checks of what they see. */
function createChecks(world: World) {
  const { random, fail } = world;
  const { requests, firstRows, states, told, stored, acknowledged } = createRecords(world);
  let ledger: Ledger;

  async function send(instance: Instance, made: Unit): Promise<Request> {
    const unit = { ...made, requestId: `request ${requests.size}` };
    const sentAt = performance.now();
    const request: Request = {
      unit,
      sentAt,
      seen: told.seen,
      answer: "none",
      answeredAt: Infinity,
    };
    requests.set(unit.requestId, request);
    const leaving = new AbortController();
    if (world.breaks(0.02)) setTimeout(() => leaving.abort(), random.below(10));
    try {
      const outcome = await Promise.race([instance.submit(unit, leaving.signal), instance.crashed]);
      if (outcome === "crashed") return request;
      request.answer = outcome.kind === "stored" ? "stored" : "refused";
      if (outcome.kind === "stored") acknowledged(request, outcome, ledger.rows);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      request.answer = error.reason === "unknownOutcome" ? "unknown" : "refused";
      if (request.answer === "refused" && firstRows.has(unit.requestId))
        fail("late", `${unit.requestId} was refused (${error.reason}), but had been stored`);
    }
    request.answeredAt = performance.now();
    world.record(`${unit.requestId}: ${request.answer}`);
    if (request.answeredAt - sentAt > timeoutMs + slackMs)
      fail("wrong", `${unit.requestId} was answered after ${request.answeredAt - sentAt} ms`);
    return request;
  }

  return {
    stored,
    watch(watched: Ledger) {
      ledger = watched;
    },
    /** Sends an update. One with an idempotency key is sent again until the outcome is known. */
    async update(first: Instance, pick: () => Instance): Promise<void> {
      const key = random.chance(0.3) ? `key ${requests.size}` : undefined;
      const unit = makeUnit(random, ledger.rows.length, key);
      let { answer } = await send(first, unit);
      for (let tries = 0; key !== undefined && tries < 5; tries++) {
        if (answer === "stored" && !random.chance(0.1)) return;
        ({ answer } = await send(pick(), unit));
      }
    },
    async read(instance: Instance): Promise<void> {
      const before = told.seen;
      try {
        const shown = await Promise.race([instance.list(), instance.crashed]);
        if (shown === "crashed") return;
        const { seq } = shown.at;
        world.record(`read ${seq}`);
        if (seq < before)
          fail("wrong", `a read shows row ${seq}, but ${before} was seen before it`);
        const state = states[seq];
        const isRight =
          state && [...state].every(([id, quantity]) => shown.stocks.get(id) === quantity);
        if (!isRight) fail("wrong", `a read does not show the stock after row ${seq}`);
        told.seen = Math.max(told.seen, seq);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
      }
    },
    end(): void {
      if (ledger.head().seq !== states.length - 1) fail("lost", "the ledger lacks rows");
    },
  };
}

function makeUnit(random: Random, rows: number, key: string | undefined): Unit {
  const changes = Array.from({ length: random.pick([1, 1, 1, 2, 5]) }, (): Change => {
    const petId = BigInt(1 + random.below(random.chance(0.02) ? pets + 1 : pets));
    if (random.chance(0.6))
      return { petId, kind: "set", amount: random.below(1_000), reason: null };
    return { petId, kind: "add", amount: random.below(20) - 8, reason: null };
  });
  if (key === undefined && random.chance(0.1))
    changes[0] = { ...changes[0]!, expected: [{ seq: random.below(rows + 2) }] };
  const idempotency = key === undefined ? undefined : { key, request: key, keptMs };
  const keyId = random.pick(["till", "shop", "bulk"]);
  return { changes, cause: "api", keyId, requestId: null, idempotency };
}
