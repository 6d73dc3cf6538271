// A world with its own time: one thread, seeded, and the same for the same seed.
import { drainMicrotasks } from "bun:jsc";
import { hash } from "node:crypto";
import type { EventName, Log } from "../../src/domain/running/events.ts";
import { testStart } from "../../test/support/clock.ts";
import type { Wrong } from "../part.ts";
import { createRandom, type Random } from "../random.ts";

/** What code in the world uses besides the global timers and clocks, which are those of the world too. */
export interface World {
  readonly random: Random;
  sleep(ms: number): Promise<void>;
  /** A short time, and with this probability a long one. */
  delay(usualMs: number, longChance: number, longMs: number): Promise<void>;
  /** Sets the system clock forward or back. No time passes. */
  jump(ms: number): void;
  /** Adds to the trace. Two runs of a seed have the same trace. */
  record(event: string): void;
  /** Counts a fault, and returns true, with this probability. Never once `calm` was called. */
  breaks(probability: number): boolean;
  /** No faults from now on. */
  calm(): void;
  acknowledged(): void;
  fail(wrong: Wrong, what: string): void;
  /** A task that fails is a bug: those of the service expect every fault of this world. */
  readonly log: Log;
}

export interface Simulated {
  readonly failures: readonly { readonly wrong: Wrong; readonly what: string }[];
  readonly faults: number;
  readonly acknowledged: number;
  /** A digest of the trace. */
  readonly digest: string;
}

interface Event {
  readonly at: number;
  work: (() => void) | undefined;
}

/** What the global functions return. */
interface Timer {
  event: Event;
  unref(): Timer;
}

function handle(event: Event): Timer {
  const timer = { event, unref: () => timer };
  return timer;
}

function cancel(timer: Timer | undefined): void {
  if (timer) timer.event.work = undefined;
}

/** A world that needs more events than this does not come to an end. */
const eventsMax = 300_000;

const failedEvents: readonly EventName[] = ["task failed", "ledger damaged"];

/** Runs a world until its story ends. Everything happens before the promise resolves: no real time passes. */
export function simulate(seed: number, story: (world: World) => Promise<void>): Promise<Simulated> {
  const { promise, resolve, reject } = Promise.withResolvers<Simulated>();
  // Microtasks can be run to their end only from a turn of the event loop, not from a microtask.
  setImmediate(() => {
    try {
      resolve(run(seed, story));
    } catch (error) {
      reject(error);
    }
  });
  return promise;
}

function run(seed: number, story: (world: World) => Promise<void>): Simulated {
  const random = createRandom(seed);
  const failures: { wrong: Wrong; what: string }[] = [];
  const trace: string[] = [];
  const time = createTime(random);
  let faults = 0;
  let acknowledged = 0;
  let isCalm = false;
  const fail = (wrong: Wrong, what: string) =>
    void failures.push({ wrong, what: `${what} (after ${time.now().toFixed(1)} ms)` });
  const sleep = (ms: number) => new Promise<void>((done) => void time.at(ms, done));
  const world: World = {
    random,
    sleep,
    delay: (usualMs, longChance, longMs) =>
      sleep(random.fraction() * (world.breaks(longChance) ? longMs : usualMs)),
    jump: time.jump,
    record: (event) => void trace.push(`${time.now()} ${event}`),
    breaks(probability) {
      const isBroken = !isCalm && random.chance(probability);
      if (isBroken) faults += 1;
      return isBroken;
    },
    calm() {
      isCalm = true;
    },
    acknowledged() {
      acknowledged += 1;
    },
    fail,
    log(event, details) {
      world.record(event);
      if (failedEvents.includes(event)) fail("wrong", `${event}: ${JSON.stringify(details)}`);
    },
  };
  const restore = time.replaceGlobals();
  try {
    let isOver = false;
    const over = (error?: unknown) => {
      isOver = true;
      if (error !== undefined) fail("wrong", error instanceof Error ? error.stack! : String(error));
    };
    story(world).then(() => over(), over);
    drainMicrotasks();
    for (let events = 0; !isOver; events++) {
      if (!time.next()) over("nothing happens any more, but the story goes on");
      if (events === eventsMax) over("the story does not end");
    }
    time.endImmediates();
  } finally {
    restore();
  }
  return { failures, faults, acknowledged, digest: hash("sha256", trace.join("\n")) };
}

/** Timers and clocks. A timer fires up to a millisecond late, so that timers fire in any order. */
function createTime(random: Random) {
  let now = 1_000;
  let clockOffset = testStart - now;
  /** By time. Immediates are in the order in which they were set. */
  const events: Event[] = [];
  let immediates: Event[] = [];

  function add(at: number, work: () => void): Event {
    const event = { at, work };
    let low = 0;
    for (let high = events.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (events[middle]!.at > at) high = middle;
      else low = middle + 1;
    }
    events.splice(low, 0, event);
    return event;
  }

  const at = (ms: number, work: () => void) => add(now + Math.max(0, ms) + random.fraction(), work);

  function repeat(ms: number, work: () => void): Timer {
    const timer = handle(at(ms, again));
    function again(): void {
      timer.event = at(ms, again);
      work();
    }
    return timer;
  }

  function perform(event: Event): void {
    const { work } = event;
    event.work = undefined;
    work?.();
    drainMicrotasks();
  }

  function runImmediates(): void {
    const due = immediates;
    immediates = [];
    for (const event of due) perform(event);
  }

  return {
    at,
    now: () => now,
    jump(ms: number) {
      clockOffset += ms;
    },
    /** Lets the next thing happen. Returns false if there is none. */
    next(): boolean {
      if (immediates.length > 0) runImmediates();
      else {
        const event = events.shift();
        if (!event) return false;
        now = Math.max(now, event.at);
        perform(event);
      }
      return true;
    },
    /** Code that yields to the event loop keeps a queue of its own, which the next world would inherit. */
    endImmediates() {
      for (let turns = 0; immediates.length > 0 && turns < 1_000; turns++) runImmediates();
    },
    /** Returns a function that puts the real ones back. */
    replaceGlobals(): () => void {
      const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = globalThis;
      const { now: realDate } = Date;
      const { now: realNow } = performance;
      Object.assign(globalThis, {
        setTimeout: (work: () => void, ms = 0) => handle(at(ms, work)),
        clearTimeout: cancel,
        setInterval: (work: () => void, ms: number) => repeat(ms, work),
        clearInterval: cancel,
        setImmediate: (work: () => void) => void immediates.push({ at: now, work }),
      });
      Date.now = () => Math.floor(now + clockOffset);
      performance.now = () => now;
      return () => {
        const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate };
        Object.assign(globalThis, real);
        Date.now = realDate;
        performance.now = realNow;
      };
    },
  };
}
