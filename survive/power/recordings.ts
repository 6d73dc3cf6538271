// What is recorded, and how an image of it is judged.
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { type Served, signalUntilEnd } from "../../test/support/process.ts";
import { findFaults, type Load, rowsToImport, sendLoad, type Told } from "../load.ts";
import { createStore, type Fault, localWebhooks } from "../store.ts";
import { type Inspection, inspect } from "./inspection.ts";
import type { Judged, Stage } from "./stage.ts";

const store = "production.db";
const addressOf = (folder: string, path = store) => `sqlite:${join(folder, path)}`;
const lost = (what: string): Fault => ({ wrong: "lost", what });
const wrong = (what: string): Fault => ({ wrong: "wrong", what });

/** Clients change a served store. An image has everything they were told, and nothing they did not ask for. */
export async function serveLoad(stage: Stage, isFailing = false): Promise<Judged> {
  const { place, round } = stage;
  const { random, isShort } = round;
  const address = addressOf(place.folder);
  const keys = await createStore(address);
  stage.begin();
  const served = await stage.serve(
    [...["serve", "--database", address, "--ban-strikes-min", "1"], ...localWebhooks],
    isFailing,
  );
  const target = {
    ...keys,
    baseUrl: () => served.baseUrl,
    position: stage.position,
    provokesBans: !isFailing,
    mayFail: ({ message }: Error) => isFailing && message.includes(": 503 "),
  };
  // Flushes fail for a while, or until the service is killed: then its last commit is in memory only.
  // That matters most while the log is short, because an older version of a page is not in it then.
  const isFailingLast = isFailing && random.chance(0.5);
  const loadMs = isFailingLast ? 400 : isShort ? 1_000 : 3_000;
  const beginsMs = random.below(loadMs / 2);
  const loading = sendLoad(target, random, loadMs);
  if (isFailing) {
    await Promise.race([loading, Bun.sleep(beginsMs)]);
    stage.faults.begin(failingFlush(isFailingLast ? 1 : 1 + random.below(4)));
    await Promise.race([loading, Bun.sleep(random.below(loadMs / 4))]);
    if (!isFailingLast) stage.faults.end();
  }
  const load = await loading;
  await end(served, isFailingLast || random.chance(0.5));
  // Recovers the store if the service was killed. The power may fail meanwhile, too.
  await stage.run("verify", "--database", address);
  return {
    things: { stores: [store], areCompared: false },
    acknowledged: load.told.length,
    judge: ([one], position) => findFaults(load, one!.found!, position),
  };
}

/** Every Nth flush fails with EIO. */
const failingFlush = (every: number) => ({
  name: `EIO for 1 of ${every} flushes`,
  fields: [1, 2, every, constants.errno.EIO] as const,
});

/** Stops the service, or kills it. The tracer ends in order, because its last record must be whole. */
async function end(served: Served, isKilled: boolean): Promise<void> {
  if (isKilled) {
    const { pid } = served;
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
    process.kill(Number(child), "SIGKILL");
    await served.exited;
  } else await signalUntilEnd(served, "SIGTERM");
}

/**
 * Commands and a service create a store where there is none. An image is a store, or none, which the
 * next start creates; it has what the commands that had ended have stored.
 */
export async function createAnew(stage: Stage): Promise<Judged> {
  const { place, round } = stage;
  const path = join("new", "folder", store);
  const address = addressOf(place.folder, path);
  const file = join(round.folder, "pets.ndjson");
  const { ids, rows } = rowsToImport(0);
  await Bun.write(file, rows);
  const told: Told[] = [];
  const tell = (what: string, isIn: Told["isIn"]) =>
    told.push({ position: stage.position(), what, isIn });
  const steps = {
    async import() {
      await stage.run("pets", "import", file, "--database", address);
      tell("an import", ({ quantities }) => ids.every((id) => quantities.get(id) === 7));
    },
    async key() {
      const words = ["keys", "create", "--name", "Till", "--plan", "pro", "--json"];
      const { id } = JSON.parse(await stage.run(...words, "--database", address));
      tell(`key ${id}`, ({ keys }) => keys.has(id));
    },
    async serve() {
      const served = await stage.serve(["serve", "--database", address]);
      await end(served, round.random.chance(0.5));
    },
  };
  stage.begin();
  for (const step of round.random.shuffle(Object.values(steps))) await step();
  const load: Load = { told, asked: [] };
  return {
    things: { stores: [path], areCompared: false },
    acknowledged: told.length,
    judge: ([one], position) => findFaults(load, one!.found!, position),
  };
}

/** A backup is restored. An image has no store or all of it, and all of it once the command has ended. */
export async function restoreBackup(stage: Stage): Promise<Judged> {
  const { place, round } = stage;
  const { digest, address } = await filledStore(round.folder);
  const file = join(round.folder, "monday.petstore");
  await place.run(["backup", file, "--database", address]);
  const path = join("restored", store);
  stage.begin();
  await stage.run("restore", file, "--database", addressOf(place.folder, path));
  const position = stage.position();
  return {
    things: { stores: [path], areCompared: true },
    acknowledged: 1,
    judge: ([one], at) => judgeNew(one!, digest, at >= position, "the restored store"),
  };
}

/**
 * A backup is made. An image has no backup or all of it, all of it once the command has ended, and the
 * store is as it was.
 */
export async function makeBackup(stage: Stage): Promise<Judged> {
  const { digest, address } = await filledStore(stage.place.folder);
  const backup = "monday.petstore";
  stage.begin();
  await stage.run("backup", backup, "--database", address);
  const position = stage.position();
  return {
    things: { stores: [store], backup, areCompared: true },
    acknowledged: 1,
    *judge([source, made], at) {
      if (source!.digest !== digest) yield lost("content of the store");
      yield* judgeNew(made!, digest, at >= position, "the backup");
    },
  };
}

/**
 * A store is copied with `migrate-store`. An image has the source as it was, and a target that is empty
 * or complete, complete once the command has ended.
 */
export async function copyStore(stage: Stage): Promise<Judged> {
  const { folder } = stage.place;
  const { digest, address } = await filledStore(folder);
  const copy = "copy.db";
  stage.begin();
  await stage.run("migrate-store", "--from", address, "--to", addressOf(folder, copy));
  const position = stage.position();
  return {
    things: { stores: [store, copy], areCompared: true },
    acknowledged: 1,
    *judge([source, target], at) {
      if (source!.digest !== digest) yield lost("content of the source");
      const isEmpty = target!.found!.quantities.size === 0 && target!.found!.keys.size === 0;
      if (isEmpty && at >= position) yield lost("the copy");
      if (!isEmpty && target!.digest !== digest) yield wrong("the copy is not complete");
    },
  };
}

/** Something new is there as a whole or not at all, and is there once it must be. */
function* judgeNew(
  one: Inspection,
  digest: string | undefined,
  mustBeThere: boolean,
  what: string,
): Generator<Fault> {
  if (!one.isThere && mustBeThere) yield lost(what);
  if (one.isThere && one.digest !== digest) yield wrong(`${what} is not complete`);
}

/** A store with keys and some hundred pets, and the digest of its content. */
async function filledStore(folder: string) {
  const address = addressOf(folder);
  await createStore(address, rowsToImport(0).rows);
  // A copy, because the inspection leaves files beside it.
  const copy = mkdtempSync(join(tmpdir(), "petstore-survive-copy-"));
  try {
    cpSync(join(folder, store), join(copy, store));
    const [found] = await inspect(copy, { stores: [store], areCompared: true });
    return { address, digest: found!.digest };
  } finally {
    rmSync(copy, { recursive: true });
  }
}
