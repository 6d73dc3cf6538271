// People who count shelves while goods are sold, with clocks of instance, store and device that differ and are set.
import { createCommitter } from "../../src/domain/commits/commits.ts";
import { parseCursor } from "../../src/domain/ledger/cursors.ts";
import type { Change, LedgerRow } from "../../src/domain/ledger/ledger.ts";
import { monotonicMs } from "../../src/domain/running/background.ts";
import { ServiceError } from "../../src/domain/running/errors.ts";
import { stocktakeOperations } from "../../src/http/admin/stocktakes.ts";
import type { Random } from "../random.ts";
import { grouping } from "./committing.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { call, type Process } from "./process.ts";
import type { World } from "./time.ts";

const pets = 2;
const hourMs = 3_600_000;
/**
 * By how much a clock is set, one time after another. Later no difference comes back: nobody could know that
 * a clock was wrong meanwhile. The first can: while a clock is behind the last row, times order nothing.
 */
function createSteps(random: Random, unitMs: number, first: readonly number[] = []): () => number {
  const sizes = [1, 2, 4, 8, 16].map((size) => random.pick([1, -1]) * size);
  const steps = [...first, ...sizes];
  return () => unitMs * (steps.shift() ?? 0);
}
/** As in the console: how long the end of the ledger may take, and how far clocks move apart by themselves. */
const placeMsMax = 2_000;
const driftMsMax = 5_000;

interface Count {
  readonly petId: bigint;
  readonly amount: number;
  readonly typedAt: number;
  /** By the clock of the ledger, as far as the device knows it. */
  readonly time: number;
  readonly countedAt: string;
  readonly isPlaced: boolean;
  /** What the device does not know: when it was counted, and by how much its time may be wrong. */
  readonly truth: { readonly countedAt: number; readonly errorMs: number };
}

type Shop = ReturnType<typeof openShop>;

export async function counting(world: World): Promise<void> {
  const { random } = world;
  const shop = openShop(world);
  let left = 60 + random.below(100);
  const atWork = async (work: () => Promise<unknown>, pausesMs: readonly number[]) => {
    while (left > 0) {
      await work();
      await world.sleep(random.fraction() * random.pick(pausesMs));
    }
  };
  for (let pet = 0; pet < pets; ) {
    const { petId } = aSale(pet, 0);
    const delivery = await shop.submit({ petId, kind: "set", amount: 1_000, reason: null });
    if (delivery) pet += 1;
    // Meanwhile every write is refused at once.
    else await world.sleep(1_000);
  }
  const sell = () => shop.submit(aSale(random.below(pets), 1 + random.below(3)));
  const setClock = async () => {
    if (world.breaks(0.1)) shop.setClock();
  };
  const people = Array.from({ length: 1 + random.below(3) }, () => {
    const device = openDevice(world, shop);
    return atWork(() => device.act().finally(() => left--), [20, 500, 3_000]);
  });
  await Promise.all([...people, atWork(sell, [20, 300, 3_000]), atWork(setClock, [3_000])]);
}

const aSale = (pet: number, size: number): Change => ({
  petId: BigInt(pet + 1),
  kind: "add",
  amount: -size,
  reason: null,
});

/** A store with a wrong stock, an instance, and what is really on the shelves. */
function openShop(world: World) {
  const { random } = world;
  const isEmbedded = random.chance(0.3);
  const shelf = new Map<bigint, number>();
  /** When each row was stored, by a clock that nobody sets. */
  const storedAt: number[] = [];
  const offset = () => random.pick([0, -150, 150, -2_000, 2_000, hourMs]);
  const aheadMs = { store: offset(), instance: offset() };
  if (isEmbedded) aheadMs.instance = aheadMs.store;
  const storeStep = createSteps(random, hourMs, random.pick([[], [0.5, -0.5]]));
  const instanceStep = createSteps(random, hourMs);
  const stored = (rows: readonly LedgerRow[]) => {
    for (const { petId, before, after, cause } of rows) {
      storedAt.push(performance.now());
      if (cause !== "count")
        shelf.set(petId, shelf.get(petId)! + after!.quantity - before!.quantity);
    }
  };
  const ledger: Ledger = createLedger(
    world,
    isEmbedded,
    pets,
    stored,
    () => Date.now() + aheadMs.store,
  );
  for (let at = 1; at <= pets; at++) shelf.set(BigInt(at), random.below(9));
  const server: Process = { isAlive: true };
  const store = ledger.connect(server);
  const bounds = { groupMax: 64, queueMax: 1_000, timeoutMs: 9_000 };
  const terms = { ...bounds, grouping: isEmbedded ? grouping.embedded : grouping.server };
  const committer = createCommitter(store, terms, monotonicMs, () => {});
  const { shareStocktake } = stocktakeOperations;
  const stocktakes = { setStocktake: async () => {}, listStocktakes: async () => [] };
  const context = {
    store: { inventory: store, stocktakes },
    head: store,
    clock: { now: () => Date.now() + aheadMs.instance },
  };
  return {
    ledger,
    shelf,
    storedAt,
    submit: (change: Change) => committer.submit(unitOf(change)).catch(expected),
    /** What the operation tells somebody who counts. */
    async ask(): Promise<{ cursor: string; now: number }> {
      const asked = { caller: { keyId: "ada" } } as never;
      const { body } = await shareStocktake.run(context as never, asked, {});
      const { cursor, now } = JSON.parse(body as string);
      return { cursor, now: Date.parse(now) };
    },
    setClock(): void {
      const which = isEmbedded ? "both" : random.pick(["store", "instance"] as const);
      const ms = which === "instance" ? instanceStep() : storeStep();
      world.record(`${which} set by ${ms}`);
      if (which !== "instance") aheadMs.store += ms;
      if (which !== "store") aheadMs.instance += ms;
    },
  };
}

const unitOf = (change: Change) =>
  ({ changes: [change], cause: "api", keyId: "till", requestId: null }) as const;

function expected(error: unknown): undefined {
  if (!(error instanceof ServiceError)) throw error;
}

/** A device, as the console works there: src/console/stock/counting.ts. */
function openDevice(world: World, shop: Shop) {
  const { random, fail } = world;
  const link: Process & { isCutUntil: number } = { isAlive: true, isCutUntil: 0 };
  let aheadMs = random.pick([0, 150, -2_000, hourMs]);
  const now = () => Math.floor(Date.now() + aheadMs);
  const nextStep = createSteps(random, 0.618 * hourMs);
  let heard = `epoch-0-${shop.ledger.head().seq}`;
  let differenceMs = Number.NaN;
  let errorMs = 0;
  const counts = new Map<bigint, Count>();

  async function ask(): Promise<string> {
    const sentAt = performance.now();
    await call(world, link, () => undefined);
    const told = await shop.ask();
    await call(world, link, () => undefined);
    const low = told.now - now();
    const high = low + performance.now() - sentAt;
    const known = Number.isNaN(differenceMs) ? (low + high) / 2 : differenceMs;
    differenceMs = Math.min(Math.max(known, low), high);
    errorMs = high - low + 2;
    return told.cursor;
  }

  async function count(): Promise<void> {
    const petId = BigInt(1 + random.below(pets));
    const typedAt = now();
    const truth = { countedAt: performance.now(), errorMs };
    const amount = shop.shelf.get(petId)!;
    const time = Math.round(typedAt + differenceMs);
    const late = world.sleep(placeMsMax).then(() => undefined);
    const known = heard;
    const end = await Promise.race([ask().catch(expected), late]);
    const place = { countedAt: end ?? known, isPlaced: end !== undefined };
    counts.set(petId, { petId, amount, typedAt, time, truth, ...place });
  }

  async function apply(one: Count): Promise<void> {
    counts.delete(one.petId);
    const { petId, amount, time, isPlaced, typedAt } = one;
    const isKept = Math.abs(time - typedAt - differenceMs) <= driftMsMax;
    if (!isPlaced && !isKept) return world.record("to be counted again");
    const position = parseCursor(one.countedAt)!;
    const countedAt = { seq: position.seq, epoch: position.epoch, ...(!isPlaced && { time }) };
    const outcome = await shop.submit({ petId, kind: "count", amount, countedAt, reason: null });
    world.record(`count: ${outcome?.kind === "rejected" ? outcome.reason : outcome?.kind}`);
    if (outcome?.kind !== "stored") return;
    world.acknowledged();
    check(one, position.seq, outcome.entries[0]!.version);
  }

  /** What was sold later must be missing. By the time, it may be off by what the device cannot know. */
  function check({ petId, amount, isPlaced, truth }: Count, seq: number, version: number): void {
    const { storedAt, ledger } = shop;
    const bounds = [truth.countedAt - truth.errorMs, truth.countedAt + truth.errorMs];
    const [least, most] = bounds.map((time) => storedAt.filter((at) => at <= time).length);
    const [from, to] = isPlaced ? [seq, seq] : [Math.max(seq, least!), Math.max(seq, most!)];
    const { after } = ledger.rows[version - 1]!;
    for (let at = from; at <= to; at++) {
      const later = ledger.rows.slice(at, version - 1).filter((row) => row.petId === petId);
      const moved = later
        .filter(({ cause }) => cause !== "count")
        .reduce((sum, row) => sum + row.after!.quantity - row.before!.quantity, 0);
      if (after!.quantity === amount + moved) return;
    }
    fail(
      "wrong",
      `${amount} counted ${isPlaced ? "at a place" : "at a time"} became ${after!.quantity}`,
    );
  }

  return {
    async act(): Promise<void> {
      if (world.breaks(0.1)) link.isCutUntil = performance.now() + random.below(20_000);
      if (world.breaks(0.02)) aheadMs += nextStep();
      const isCut = performance.now() < link.isCutUntil;
      // The feed tells of rows at some time.
      if (!isCut && random.chance(0.7)) heard = `epoch-0-${shop.ledger.head().seq}`;
      if (random.chance(0.5)) return count();
      const one = [...counts.values()].at(-1);
      if (isCut || !one) return;
      // Only then are the clocks compared.
      if ((await ask().catch(expected)) !== undefined) await apply(one);
    },
  };
}
