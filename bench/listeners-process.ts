// The process of the feed's listeners: opens streams, waits and reports as its parent asks.
import { type DelaySummary, Delays } from "./delays.ts";
import { Listener } from "./listener.ts";
import type { Target } from "./scripts.ts";
import { SharedStream } from "./shared-stream.ts";

export type Order =
  | { kind: "open"; target: Target; count: number }
  /** Waits until every listener has received the row. */
  | { kind: "await"; seq: number; timeoutMs: number }
  /** Reports what arrived since the last report. */
  | { kind: "report" }
  | { kind: "close" };

export interface ListenersReport {
  /** Rows that the listeners received, each counted once per listener. */
  events: number;
  heartbeats: number;
  /** From the time of a row to its arrival, which includes its commit. Undefined without an event. */
  delay: DelaySummary | undefined;
  /** The last row that the slowest listener has received. */
  seq: number;
  /** Share of a core that the listeners used. */
  busy: number;
}

export type Answer = { report: ListenersReport } | { failure: string };

/** Parallel requests while streams are opened. */
const openingMax = 20;

let listeners: Listener[] = [];
let stream: SharedStream | undefined;
const delays = new Delays();
let reported = { events: 0, heartbeats: 0, at: performance.now(), cpu: process.cpuUsage() };

const group = {
  streamFrom(startSeq: number) {
    stream ??= new SharedStream(startSeq);
    if (stream.startSeq !== startSeq) throw new Error("Streams began at different rows.");
    return stream;
  },
  delays,
};

async function open(target: Target, count: number): Promise<void> {
  const opened = Array.from({ length: count }, () => new Listener(group));
  listeners.push(...opened);
  const queue = [...opened];
  const openNext = async () => {
    for (let one = queue.pop(); one; one = queue.pop()) await one.open(target);
  };
  await Promise.all(Array.from({ length: openingMax }, openNext));
}

const slowestSeq = () => Math.min(...listeners.map(({ seq }) => seq));

async function awaitRow(seq: number, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (slowestSeq() < seq) {
    if (performance.now() > deadline) {
      throw new Error(`A listener is at row ${slowestSeq()} after ${timeoutMs} ms, not at ${seq}.`);
    }
    await Bun.sleep(5);
  }
}

function report(): ListenersReport {
  const sum = (of: (listener: Listener) => number) =>
    listeners.reduce((total, listener) => total + of(listener), 0);
  const current = {
    events: sum(({ events }) => events),
    heartbeats: sum(({ heartbeats }) => heartbeats),
    at: performance.now(),
    cpu: process.cpuUsage(),
  };
  const cpu = process.cpuUsage(reported.cpu);
  const result = {
    events: current.events - reported.events,
    heartbeats: current.heartbeats - reported.heartbeats,
    delay: delays.summary(),
    seq: slowestSeq(),
    busy: (cpu.user + cpu.system) / 1000 / (current.at - reported.at),
  };
  delays.clear();
  reported = current;
  return result;
}

function close(): void {
  for (const listener of listeners) listener.close();
  listeners = [];
  stream = undefined;
  delays.clear();
  reported = { events: 0, heartbeats: 0, at: performance.now(), cpu: process.cpuUsage() };
}

async function follow(order: Order): Promise<Answer> {
  try {
    if (order.kind === "open") await open(order.target, order.count);
    else if (order.kind === "await") await awaitRow(order.seq, order.timeoutMs);
    else if (order.kind === "close") close();
    return { report: report() };
  } catch (error) {
    return { failure: (error as Error).message };
  }
}

/** Removes the bytes that all listeners have. */
setInterval(() => stream?.forget(Math.min(...listeners.map(({ offset }) => offset))), 250);
process.on("message", async (order: Order) => {
  process.send!(await follow(order));
});
process.on("disconnect", () => process.exit(0));
