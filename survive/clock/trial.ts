// A load on instances whose clocks are moved, and what must be true in the end.
import { existsSync, readdirSync } from "node:fs";
import { cookieIn } from "../../test/support/admin/operators.ts";
import { startConsumer } from "../../test/support/feed-trial/consumer.ts";
import { withStoreAt } from "../../test/support/stocking.ts";
import { until } from "../../test/support/until.ts";
import { answer, startReceiver } from "../../test/support/webhooks/receiver.ts";
import { createGate } from "../gate.ts";
import { type Load, sendLoad } from "../load.ts";
import type { Round } from "../part.ts";
import { faultsIn } from "../store.ts";
import { createCounter } from "./counter.ts";
import type { TrialDatabase } from "./database.ts";
import { type Instances, startInstances } from "./instances.ts";
import { type Caller, checkPromises, keyedUpdate } from "./promises.ts";

/** `until` waits ten times as long: longer than the lease of a webhook. */
const patienceMs = 8_000;

export async function startTrial(round: Round, database: TrialDatabase) {
  await using opened = new AsyncDisposableStack();
  const instances = await startInstances(round, database);
  const { fleet, keys, minute, anyUrl } = instances;
  opened.defer(() => fleet.leave());
  const receiver = await startReceiver();
  opened.defer(() => receiver.stop());
  const caller = await startCaller(round, instances, receiver.url);
  const consumer = followFeed(keys.load, anyUrl);
  opened.defer(() => consumer.leave());

  const load: Load = { told: [], asked: [] };
  const gate = createGate();
  let isDown = false;
  let isOver = false;
  const target = {
    key: keys.load,
    operatorKey: keys.operator,
    baseUrl: anyUrl,
    position: () => 0,
    pauseMs: 50,
    async mayFail({ message }: Error) {
      if (!isDown && !isOver) round.fail("wrong", `a service that runs: ${message}`);
      await gate.pass();
      return true;
    },
    isOver: () => isOver,
  };
  const sending = sendLoad(target, round.random, Number.POSITIVE_INFINITY, load);
  const stop = () => {
    isOver = true;
    gate.open();
    return sending;
  };
  opened.defer(async () => void stop());
  gate.open();
  const counter = createCounter(round, instances, caller);
  let jumps = 0;
  let checkedMinute = 0;
  async function check(name: string, movedMs: number, minuteBefore: number): Promise<void> {
    const step = { name, movedMs, aheadMs: instances.aheadMs(), minute, minuteBefore };
    await checkPromises(caller, step);
    checkedMinute = minute();
  }
  // From then on no row has the time of the moment.
  await Bun.sleep(100);
  await check("the start", 1, minute());
  const owned = opened.move();

  return {
    /** Moves clocks while the instances run, or are stopped or killed for that time. */
    async move(ms: number, manner: "run" | "stop" | "kill"): Promise<void> {
      const count = await counter.count();
      const before = instances.logged(ms);
      // Its time of failure is then in the past or in the future. With more of them, a retry takes minutes.
      if (jumps < 2 && !round.isShort) receiver.behaveOnce(answer(500));
      if (manner !== "run") {
        // Counts of requests are saved every second. A kill may lose those since then.
        if (manner === "kill") await Bun.sleep(2_500);
        isDown = true;
        gate.close();
        await instances.each((index): Promise<unknown> => fleet[manner](index));
      }
      const which = await instances.moveClocks(ms);
      const movedMs = database.engine === "postgres" && which === "instances" ? 0 : ms;
      const minuteBefore = movedMs === 0 ? checkedMinute : minute();
      round.faults(1);
      jumps += 1;
      if (manner !== "run") {
        await instances.each((index) => fleet.start(index));
        isDown = false;
        gate.open();
      }
      const name = `${database.engine}, ${which} moved by ${ms} ms, ${manner}`;
      const wait = waiter(round, name);
      await instances.each((index) =>
        wait("not ready", async () => (await fleet.call(index, "GET", "~/readyz")).status === 200),
      );
      if (manner === "run" && movedMs !== 0)
        await wait("not logged", () => instances.logged(ms) > before);
      await check(name, movedMs, minuteBefore);
      await counter.apply(count, name);
    },
    /** Ends the load, and compares everything with what clients were told. */
    async end(): Promise<void> {
      await stop();
      round.acknowledged(load.told.length);
      await checkRows(round, database.url, consumer.seqs, receiver.confirmed);
      for (const fault of consumer.faults) round.fail("wrong", `the feed: ${fault}`);
      const made = existsSync(instances.backups) ? readdirSync(instances.backups).length : 0;
      if (made > instances.size + 2 * jumps) round.fail("wrong", `${made} backups, ${jumps} jumps`);
      await instances.each((index) => fleet.stop(index));
      for (const { wrong, what } of await faultsIn(database.url, load, 0)) round.fail(wrong, what);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Returns a function that waits for something after a step. */
function waiter(round: Round, step: string) {
  return (what: string, isTrue: () => boolean | Promise<boolean>) =>
    until(isTrue, patienceMs, what).catch(({ message }) =>
      round.fail("wrong", `${message} (after: ${step})`),
    );
}

function followFeed(key: string, pickInstance: () => string) {
  return startConsumer({ key, pickInstance, isOver: () => false, texts: new Map() });
}

/** Signs in, creates a webhook, and sends the update that is repeated after the first step. */
async function startCaller(round: Round, instances: Instances, hook: string): Promise<Caller> {
  const { fleet, keys } = instances;
  const send: Caller["send"] = (path, key, { isAny, ...init } = {}) => {
    const base = isAny ? instances.anyUrl() : fleet.instance(0).baseUrl;
    const headers = { ...(key ? { Authorization: `Bearer ${key}` } : {}), ...init.headers };
    const url = path.startsWith("/admin") ? new URL(path, base) : base + path;
    return fetch(url, { ...init, headers });
  };
  const signedIn = await send("/admin/session", keys.operator, { method: "POST" });
  const body = JSON.stringify({ url: hook });
  await send("/admin/webhooks", keys.operator, { method: "POST", body });
  const cookie = cookieIn(signedIn.headers);
  const moment = new Date().toISOString();
  const usedMinutes = new Set<number>();
  const caller = { round, keys, moment, steps: 0, usedMinutes, bans: [], cookie, send };
  await keyedUpdate(caller, 0);
  return caller;
}

/** Rows never go back in time, and feed and webhook have had all of them. */
async function checkRows(
  round: Round,
  url: string,
  fed: readonly number[],
  delivered: readonly number[],
): Promise<void> {
  const times = await withStoreAt(url, async ({ history }) =>
    (await history.listRows({ after: 0, upTo: 1_000_000 }, 1_000_000)).map(({ at }) => at),
  );
  if (times.some((at, index) => at < (times[index - 1] ?? 0)))
    round.fail("wrong", "the time of a row is before that of an earlier row");
  for (const [what, seqs] of Object.entries({ feed: fed, webhook: delivered })) {
    await until(() => seqs.includes(times.length), patienceMs, what).catch(() =>
      round.fail("lost", `of ${times.length} rows, the ${what} ends at ${seqs.at(-1)}`),
    );
    let last = seqs[0] ?? 0;
    for (const seq of seqs) {
      if (seq > last + 1) round.fail("lost", `the ${what} left out the rows after ${last}`);
      last = Math.max(last, seq);
    }
  }
}
