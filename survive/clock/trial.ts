// A service under load whose clocks are moved: one instance on SQLite, or two on PostgreSQL, an hour apart.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { dayMs, minuteMs } from "../../src/domain/limits/limits.ts";
import { cookieIn } from "../../test/support/admin/operators.ts";
import { startConsumer } from "../../test/support/feed-trial/consumer.ts";
import { startFleet, until } from "../../test/support/instances/fleet.ts";
import { jumpBy, makeTimeMovable } from "../../test/support/instances/movable-time.ts";
import type { TrialDatabase } from "../../test/support/instances/trial-database.ts";
import { createKey, importPets, withStoreAt } from "../../test/support/stocking.ts";
import { answer, startReceiver } from "../../test/support/webhooks/receiver.ts";
import { createGate } from "../gate.ts";
import { type Load, sendLoad } from "../load.ts";
import type { Round } from "../part.ts";
import { createStore, faultsIn } from "../store.ts";
import { createMovableClock } from "./movable-clock.ts";
import { banMinutes, type Caller, checkPromises, keyedUpdate, perMinute } from "./promises.ts";

/** Longer than a lease of a webhook. `until` waits ten times as long. */
const patienceMs = 5_000;

export async function startTrial(round: Round, { url, server, instances }: TrialDatabase) {
  const { random, folder } = round;
  const keys = await createStore(url);
  await importPets(url, '{"petId":21,"name":"Pet"}');
  const small = { plan: "enterprise", perMinute, perDay: 1_000_000 };
  const sunset = Date.now() + 200 * dayMs;
  const limited = (await createKey(url, { name: "limited", ...small })).key;
  const banned = (await createKey(url, { name: "banned", ...small })).key;
  const ending = { name: "ending", plan: "pro", expiresAt: sunset };
  const expiring = (await createKey(url, ending)).key;
  if (server) await makeTimeMovable(url);

  const clocks = Array.from({ length: instances }, (_, index) =>
    createMovableClock(join(folder, `clock-${index}`), index * 3_600_000),
  );
  const backups = join(folder, "backups");
  const fleet = await startFleet(url, {
    size: instances,
    flags: [
      ...["--webhooks-allow-insecure", "--webhooks-allowed-networks", "127.0.0.0/8"],
      ...["--ban-grace-ms", "1", "--ban-strikes-min", "10", "--ban-minutes-max", `${banMinutes}`],
      ...["--pets-sunset", new Date(sunset).toISOString()],
      ...["--backup-every", "1h", "--backup-folder", backups],
    ],
    runOptions: (index) => ({ env: clocks[index]!.env }),
  });
  const receiver = await startReceiver();
  const load: Load = { told: [], asked: [] };
  const gate = createGate();
  gate.open();
  let isDown = false;
  let isOver = false;
  let turn = 0;
  const anyInstance = () => fleet.instance(turn++ % instances).baseUrl;

  const send: Caller["send"] = (path, key, { isAny, ...init } = {}) => {
    const base = isAny ? anyInstance() : fleet.instance(0).baseUrl;
    const headers = { ...(key ? { Authorization: `Bearer ${key}` } : {}), ...init.headers };
    return fetch(path.startsWith("/admin") ? new URL(path, base) : base + path, {
      ...init,
      headers,
    });
  };
  const post = async (path: string, body: string) => {
    const response = await send(path, keys.operatorKey, { method: "POST", body });
    if (!response.ok) throw new Error(`POST ${path}: ${await response.text()}`);
    return response;
  };

  /** How far the clock is ahead that limits, bans and the times of rows follow. */
  let databaseAheadMs = 0;
  const minute = () =>
    Math.floor((server ? Date.now() + databaseAheadMs : clocks[0]!.now()) / minuteMs);
  let checkedMinute = 0;
  let jumps = 0;
  let moment = "";

  const cookie = cookieIn((await post("/admin/session", "")).headers);
  await post("/admin/webhooks", JSON.stringify({ url: receiver.url }));
  const consumer = startConsumer({ key: keys.key, pickInstance: anyInstance, texts: new Map() });
  const caller: Caller = {
    round,
    keys: { limited, banned, expiring, load: keys.key },
    bans: [],
    cookie,
    send,
  };

  async function check(name: string, movedMs: number, minuteBefore: number): Promise<void> {
    const aheadMs = clocks[0]!.now() - Date.now();
    await checkPromises(caller, { name, movedMs, aheadMs, minute, minuteBefore }, moment);
    checkedMinute = minute();
  }

  /** Each instance has said so often that a clock jumped by about so much. */
  function logged(ms: number): number {
    const counts = Array.from({ length: instances }, (_, index) => {
      const lines = fleet.instance(index).written().split("\n");
      const jumped = lines.filter((line) => line.includes('"clock jumped"'));
      return jumped.filter((line) => Math.abs(JSON.parse(line).byMs - ms) < 60_000).length;
    });
    return Math.min(...counts);
  }

  const each = <T>(work: (index: number) => Promise<T>) =>
    Promise.all(Array.from({ length: instances }, (_, index) => work(index)));

  async function takeDown(manner: "stop" | "kill"): Promise<void> {
    // The service saves its counts every second. A kill may lose those since then.
    if (manner === "kill") await Bun.sleep(2_500);
    isDown = true;
    gate.close();
    await each((index) => fleet[manner](index) as Promise<unknown>);
  }

  async function bringUp(): Promise<void> {
    await each((index) => fleet.start(index));
    isDown = false;
    gate.open();
  }

  /** Moves the clocks of the instances, that of the database, or all, and returns which. */
  async function moveClocks(ms: number): Promise<string> {
    const which = server && ms !== 0 ? random.pick(["instances", "database", "all"]) : "instances";
    if (which !== "database")
      await Promise.all(clocks.map((one) => (ms === 0 ? one.standStill(2_000) : one.moveBy(ms))));
    if (which !== "instances") {
      await jumpBy(url, `${ms} milliseconds`);
      databaseAheadMs += ms;
    }
    return which;
  }

  const sending = sendLoad(
    {
      ...keys,
      baseUrl: anyInstance,
      position: () => 0,
      pauseMs: 50,
      async mayFail({ message }) {
        if (!isDown && !isOver) round.fail("wrong", `a service that runs: ${message}`);
        await gate.pass();
        return true;
      },
      isOver: () => isOver,
    },
    random,
    Number.POSITIVE_INFINITY,
    load,
  );
  await keyedUpdate(caller);
  await send("/inventory/21", keys.key, { method: "PATCH", body: '{"quantity":6}' });
  moment = new Date().toISOString();
  await Bun.sleep(300);
  await check("the start", 1, minute());

  return {
    /** Moves clocks while the instances run, or are stopped or killed for that time. */
    async move(ms: number, manner: "run" | "stop" | "kill"): Promise<void> {
      const before = logged(ms);
      receiver.behaveOnce(answer(500));
      if (manner !== "run") await takeDown(manner);
      const which = await moveClocks(ms);
      const movedMs = which !== "instances" || !server ? ms : 0;
      const minuteBefore = movedMs === 0 ? checkedMinute : minute();
      round.faults(1);
      if (ms !== 0) jumps += 1;
      if (manner !== "run") await bringUp();
      const name = `the clock of ${which} moved by ${ms} ms, instances: ${manner}`;
      const wait = (isTrue: () => boolean | Promise<boolean>, what: string) =>
        until(isTrue, patienceMs, what).catch(({ message }) =>
          round.fail("wrong", `${message} (after: ${name})`),
        );
      await each(async (index) =>
        wait(async () => (await fleet.call(index, "GET", "~/readyz")).status === 200, "not ready"),
      );
      if (manner === "run" && movedMs !== 0) await wait(() => logged(ms) > before, "not logged");
      await check(name, movedMs, minuteBefore);
    },
    /** Ends the load, and compares everything with what clients were told. */
    async end(): Promise<void> {
      isOver = true;
      await sending;
      const times = await withStoreAt(url, async ({ history }) =>
        (await history.listRows({ after: 0, upTo: 1_000_000 }, 1_000_000)).map(({ at }) => at),
      );
      if (times.some((at, index) => index > 0 && at < times[index - 1]!))
        round.fail("wrong", "the time of a row is before that of an earlier row");
      const arrived = () => [consumer.seqs.at(-1), Math.max(...receiver.confirmed)];
      const isComplete = () => arrived().every((seq) => seq === times.length);
      await until(isComplete, patienceMs, "the end").catch(() =>
        round.fail("lost", `of ${times.length} rows, feed and webhook end at ${arrived()}`),
      );
      for (const [what, seqs] of [
        ["feed", consumer.seqs],
        ["webhook", receiver.confirmed],
      ] as const) {
        const isGap = (seq: number, at: number) =>
          at > 0 && seq > Math.max(...seqs.slice(0, at)) + 1;
        if (seqs.some(isGap)) round.fail("lost", `the ${what} left out a row`);
      }
      for (const fault of consumer.faults) round.fail("wrong", `the feed: ${fault}`);
      const made = readdirSync(folder).includes("backups") ? readdirSync(backups).length : 0;
      if (made > instances + 2 * jumps) round.fail("wrong", `${made} backups for ${jumps} jumps`);
      await each((index) => fleet.stop(index));
      for (const { wrong, what } of await faultsIn(url, load, 0)) round.fail(wrong, what);
      round.acknowledged(load.told.length);
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      gate.open();
      await consumer.leave();
      await fleet.leave();
      await receiver.stop();
    },
  };
}
