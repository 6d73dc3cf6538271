// The instances whose clocks are moved: one on SQLite, or two on PostgreSQL that are about an hour apart.

import { join } from "node:path";
import { dayMs, minuteMs } from "../../src/domain/values/times.ts";
import { startFleet } from "../../test/support/instances/fleet.ts";
import { jumpBy, makeTimeMovable } from "../../test/support/instances/movable-time.ts";
import { createKey, importPets } from "../../test/support/stocking.ts";
import type { Round } from "../part.ts";
import { createStore, localWebhooks } from "../store.ts";
import type { TrialDatabase } from "./database.ts";
import { createMovableClock } from "./movable-clock.ts";
import { banMinutes, perMinute } from "./promises.ts";

export type Instances = Awaited<ReturnType<typeof startInstances>>;

export async function startInstances(
  { folder, random }: Round,
  { url, engine, instances: size }: TrialDatabase,
) {
  const load = await createStore(url);
  await importPets(url, '{"petId":21,"name":"Pet"}\n{"petId":22,"name":"Shelf","quantity":1000}');
  const small = { plan: "enterprise", perMinute, perDay: 1_000_000 };
  const endsAt = Date.now() + 200 * dayMs;
  const keys = {
    load: load.key,
    operator: load.operatorKey,
    limited: (await createKey(url, { name: "limited", ...small })).key,
    banned: (await createKey(url, { name: "banned", ...small })).key,
    expiring: (await createKey(url, { name: "expiring", plan: "pro", expiresAt: endsAt })).key,
  };
  const isShared = engine === "postgres";
  if (isShared) await makeTimeMovable(url);
  // Little enough to go unnoticed, and enough to place a count wrongly.
  const initialMs = () => random.pick([0, 150, -150, 2_000, -2_000]);
  const clocks = Array.from({ length: size }, (_, index) =>
    createMovableClock(join(folder, `clock-${index}`), index * 60 * minuteMs + initialMs()),
  );
  const backups = join(folder, "backups");
  const fleet = await startFleet(url, {
    size,
    flags: [
      ...localWebhooks,
      ...["--ban-grace-ms", "1", "--ban-strikes-min", "10", "--ban-minutes-max", `${banMinutes}`],
      ...["--pets-sunset", new Date(endsAt).toISOString()],
      ...["--backup-every", "1h", "--backup-folder", backups],
    ],
    runOptions: (index) => ({ env: clocks[index]!.env }),
  });
  let databaseAheadMs = 0;
  let turn = 0;
  /** The clock that limits, bans and the times of rows follow. */
  const ledgerNow = () => (isShared ? Date.now() + databaseAheadMs : clocks[0]!.now());

  /** Moves the clocks of the instances, that of the database, or all. Returns which. */
  async function moveClocks(ms: number): Promise<"instances" | "database" | "all"> {
    const choices = ["instances", "database", "all"] as const;
    const which = isShared && ms !== 0 ? random.pick(choices) : "instances";
    if (which !== "database")
      await Promise.all(clocks.map((one) => (ms === 0 ? one.standStill(2_000) : one.moveBy(ms))));
    if (which !== "instances") {
      await jumpBy(url, `${ms} milliseconds`);
      databaseAheadMs += ms;
    }
    return which;
  }

  return {
    keys,
    backups,
    fleet,
    size,
    moveClocks,
    /** The address of one instance after another. */
    anyUrl: () => fleet.instance(turn++ % size).baseUrl,
    /** How far the clock of the first instance is ahead. Sessions and the ends of keys follow it. */
    aheadMs: () => clocks[0]!.now() - Date.now(),
    ledgerNow,
    /** The minute of that clock. */
    minute: () => Math.floor(ledgerNow() / minuteMs),
    /** How often every instance has said that a clock jumped by about so much. */
    logged(ms: number): number {
      const counts = clocks.map((_, index) => {
        const lines = fleet.instance(index).written().split("\n");
        const jumped = lines.filter((line) => line.includes('"clock jumped"'));
        return jumped.filter((line) => Math.abs(JSON.parse(line).byMs - ms) < minuteMs).length;
      });
      return Math.min(...counts);
    },
    each: (work: (index: number) => Promise<unknown>) =>
      Promise.all(clocks.map((_, index) => work(index))),
  };
}
