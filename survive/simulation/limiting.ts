// Clients that send more than their keys may, through one process or several that count together.
import {
  type BanRules,
  type LimitDecision,
  type Limiter,
  setBackMsMax,
} from "../../src/domain/limits/limits.ts";
import type { Limits } from "../../src/domain/limits/plans.ts";
import { ServiceError, unavailable } from "../../src/domain/running/errors.ts";
import type { Ban, SavedUsage, UsageStore } from "../../src/domain/usage/usage.ts";
import { minuteMs } from "../../src/domain/values/times.ts";
import { createLocalLimiter } from "../../src/limits/local.ts";
import { createSharedLimiter } from "../../src/limits/shared.ts";
import { type CountingProcess, createCounters, hold } from "./counters.ts";
import { call, type Process } from "./process.ts";
import type { World } from "./time.ts";

const rules: BanRules = {
  graceMs: 2_000,
  strikesMin: 20,
  strikesDivisor: 5,
  banMs: 60_000,
  banMsMax: 240_000,
  escalationMs: 3_600_000,
};

/** How large a share of the limit an instance may reserve. */
const reserveShare = 1 / 1_000;

interface Running {
  readonly process: Process;
  readonly limiter: Limiter;
}

/** One of the two ways to count. */
interface Counting {
  readonly instances: number;
  start(): Promise<Running>;
  crash(running: Running): void;
  /** Called for every request that was admitted, after it was added to the accounts. */
  admitted(running: Running, keyId: string, decision: LimitDecision): void;
  /** How many requests of a key may be counted, though nobody was admitted with them. */
  slackOf(keyId: string): number;
  /** How many may have been admitted, though they are no longer counted. */
  forgottenOf(keyId: string): number;
  end(accounts: Accounts, running: readonly Running[]): void;
}

export async function limiting(world: World): Promise<void> {
  const { random } = world;
  const isBusy = random.chance(0.2);
  /** A clock that goes back far starts windows again, so what they admitted cannot be told apart. */
  const jumpsFar = random.chance(0.2);
  // Busy keys either reach their limits, or have large reserves.
  const limits: Limits = isBusy
    ? random.pick([
        { perMinute: 8_500 + random.below(1_500), perDay: 12_000 },
        { perMinute: 40_000 + random.below(40_000), perDay: 500_000 },
      ])
    : { perMinute: 5 + random.below(40), perDay: 60 + random.below(200) };
  // Some begin shortly before the end of a minute.
  if (random.chance(0.5)) world.jump(minuteMs - random.below(1_000));
  const accounts = createAccounts(world, limits, !jumpsFar);
  const counting = random.chance(isBusy ? 1 : 0.6) ? shared(world, limits, accounts) : local(world);
  const running = await Promise.all(Array.from({ length: counting.instances }, counting.start));
  const keys = isBusy ? ["busy"] : ["one", "two"];

  async function crash(): Promise<void> {
    const at = random.below(running.length);
    world.record(`crash ${at}`);
    counting.crash(running[at]!);
    running[at] = await counting.start();
  }

  // Several small steps back are one large step, so there is only one.
  const steps = [2_000, minuteMs, -random.below(setBackMsMax)];

  for (let bursts = 20 + random.below(40); bursts > 0; bursts--) {
    const keyId = random.pick(keys);
    const sent = 1 + random.below(isBusy ? 450 : limits.perMinute);
    for (let left = sent; left > 0; left--) {
      void accounts.send(random.pick(running), keyId, counting);
    }
    await world.delay(isBusy ? 20 : random.pick([30, 700, 9_000]), 0.02, 2 * minuteMs);
    if (world.breaks(0.03)) await crash();
    if (steps.length > 0 && world.breaks(0.03)) world.jump(steps.pop()!);
    if (jumpsFar && world.breaks(0.05)) world.jump(random.pick([-1, 1]) * 60 * minuteMs);
  }
  world.calm();
  await world.sleep(5_000);
  counting.end(accounts, running);
  for (const { limiter } of running) await limiter.close();
}

type Accounts = ReturnType<typeof createAccounts>;

/** What clients were told. */
function createAccounts(world: World, limits: Limits, areWindowsKnown: boolean) {
  /** By key and the end of the window. */
  const admitted = new Map<string, number>();
  const pending = new Map<string, number>();
  /** Requests that were not admitted, since the last ban. */
  const refused = new Map<string, number>();
  const add = (counts: Map<string, number>, name: string, count: number) =>
    counts.set(name, (counts.get(name) ?? 0) + count).get(name)!;

  const windowOf = (keyId: string, limit: number, resetAt: number) =>
    `${keyId} ${limit} ${resetAt}`;
  const admittedIn = (keyId: string, limit: number, resetAt: number) =>
    admitted.get(windowOf(keyId, limit, resetAt)) ?? 0;

  function admit(keyId: string, { minute, day }: LimitDecision, forgotten: number): void {
    world.acknowledged();
    for (const { resetAt, limit } of [minute, day!]) {
      const count = add(admitted, windowOf(keyId, limit, resetAt), 1);
      if (areWindowsKnown && count > limit + forgotten)
        world.fail("wrong", `${keyId}: ${count} admitted, limit ${limit}, ${forgotten} forgotten`);
    }
  }

  function refuse(keyId: string, { minute, day, now }: LimitDecision, slack: number): void {
    if (minute.resetAt - now > minuteMs + setBackMsMax)
      world.fail("wrong", `${keyId} has to wait for ${minute.resetAt - now} ms`);
    const rooms = [minute, day!].map(
      ({ resetAt, limit }) => limit - admittedIn(keyId, limit, resetAt),
    );
    const room = Math.min(...rooms);
    const allowed = slack + pending.get(keyId)!;
    if (areWindowsKnown && room > allowed)
      world.fail("wrong", `${keyId} is refused with ${room} left, of which ${allowed} may be lost`);
  }

  return {
    areWindowsKnown,
    async send(one: Running, keyId: string, counting: Counting): Promise<void> {
      add(pending, keyId, 1);
      add(refused, keyId, 1);
      try {
        const decision = await one.limiter.take(keyId, limits);
        if (!one.process.isAlive) return;
        world.record(`${keyId} ${decision.outcome} ${decision.minute.remaining}`);
        add(pending, keyId, -1);
        if (decision.outcome === "admitted") {
          add(refused, keyId, -1);
          admit(keyId, decision, counting.forgottenOf(keyId));
          counting.admitted(one, keyId, decision);
        } else if (decision.outcome === "limited") refuse(keyId, decision, counting.slackOf(keyId));
        else if (decision.binding.resetAt > decision.now + rules.banMsMax + setBackMsMax)
          world.fail("wrong", `${keyId} is banned until ${decision.binding.resetAt}`);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        add(pending, keyId, -1);
      }
    },
    banned(keyId: string): void {
      const strikes = refused.get(keyId) ?? 0;
      // After a large step back, a ban that was repeated because its answer was lost can begin twice.
      if (
        areWindowsKnown &&
        strikes < Math.max(rules.strikesMin, limits.perMinute / rules.strikesDivisor)
      )
        world.fail("wrong", `${keyId} is banned after ${strikes} requests`);
      refused.set(keyId, 0);
    },
    admittedIn,
  };
}

function shared(world: World, limits: Limits, accounts: Accounts): Counting {
  const counters = createCounters(world, accounts.banned);
  const instances = 1 + world.random.below(3);
  const held = (running: Running) => (running.process as CountingProcess).held;
  return {
    instances,
    async start() {
      const process: CountingProcess = { isAlive: true, held: new Map() };
      const serverTime = { observe: () => {} };
      const usage = counters.connect(process);
      return {
        process,
        limiter: createSharedLimiter({ usage, rules, serverTime, log: world.log }),
      };
    },
    crash: ({ process }) => counters.crash(process as CountingProcess),
    admitted({ process }, keyId, { minute: { limit, resetAt } }) {
      const admitted = accounts.admittedIn(keyId, limit, resetAt);
      const counted = counters.countedIn(keyId, resetAt - minuteMs);
      if (accounts.areWindowsKnown && admitted > counted)
        world.fail("wrong", `${keyId}: ${admitted} admitted in a minute, ${counted} counted`);
      if (hold(process as CountingProcess, keyId, -1) < 0)
        world.fail("wrong", `${keyId}: a request was admitted that is not counted`);
    },
    slackOf: (keyId) =>
      counters.lostOf(keyId) + (instances - 1) * Math.ceil(limits.perMinute * reserveShare),
    forgottenOf: () => 0,
    end(accounts, running) {
      for (const one of running) {
        for (const [keyId, count] of held(one))
          if (count !== 0) world.fail("wrong", `${count} of ${keyId} were not returned`);
      }
      for (const keyId of ["one", "two", "busy"]) {
        const { dayCount, dayStart } = counters.usageOf(keyId);
        const admitted = accounts.admittedIn(keyId, limits.perDay, dayStart + 86_400_000);
        const counted = admitted + counters.lostOf(keyId);
        if (accounts.areWindowsKnown && dayCount !== counted)
          world.fail("wrong", `${keyId} has ${dayCount} counted and ${counted} used`);
      }
    },
  };
}

/** Counts are kept in memory and saved every second: a crash forgets those that are not saved. */
function local(world: World): Counting {
  const saved = new Map<string, SavedUsage>();
  const bans = new Map<string, Ban>();
  /** When the requests were admitted that are not saved, by key. */
  const unsaved = new Map<string, number[]>();
  const forgotten = new Map<string, number>();
  let brokenAt = 0;

  function connect(process: Process): UsageStore {
    return {
      loadUsage: async () => [...saved.values()],
      async saveUsage(rows) {
        const begunAt = performance.now();
        try {
          if (world.breaks(0.1)) throw unavailable("busy");
          await call(world, process, () => {
            for (const row of rows) {
              saved.set(row.keyId, row);
              const left = (unsaved.get(row.keyId) ?? []).filter((at) => at > begunAt);
              unsaved.set(row.keyId, left);
            }
          });
        } catch (error) {
          brokenAt = performance.now();
          throw error;
        }
      },
      loadBans: async () => [...bans.values()].filter((one) => one.startedAt <= Date.now()),
      saveBan: (ban) => call(world, process, () => void bans.set(ban.keyId, ban)),
      liftBan: async () => false,
    };
  }

  return {
    instances: 1,
    async start() {
      const process: Process = { isAlive: true };
      const clock = { now: () => Date.now(), elapsedMs: () => performance.now() };
      const usage = connect(process);
      return {
        process,
        limiter: await createLocalLimiter({ usage, clock, rules, log: world.log }),
      };
    },
    crash({ process }) {
      process.isAlive = false;
      const now = performance.now();
      for (const [keyId, times] of unsaved) {
        const old = times.filter((at) => now - at > 4_000).length;
        if (old > 0 && now - brokenAt > 6_000)
          world.fail("lost", `${old} requests of ${keyId} were not saved within four seconds`);
        forgotten.set(keyId, (forgotten.get(keyId) ?? 0) + times.length);
      }
      unsaved.clear();
    },
    admitted(_, keyId) {
      unsaved.set(keyId, [...(unsaved.get(keyId) ?? []), performance.now()]);
    },
    slackOf: () => 0,
    forgottenOf: (keyId) => forgotten.get(keyId) ?? 0,
    end() {
      for (const [keyId, { length }] of unsaved)
        if (length > 0) world.fail("lost", `${length} requests of ${keyId} are not saved`);
    },
  };
}
