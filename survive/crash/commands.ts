// Commands and first starts that are killed. What they do is done completely or not at all.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace, type Started, type Workspace } from "../../test/support/process.ts";
import { importPets, withStoreAt } from "../../test/support/stocking.ts";
import { batchPets, setPets } from "../load.ts";
import { createStore, faultsIn } from "../store.ts";
import { goesOn, type Lane } from "./lane.ts";

/** Whole imports, as load.ts expects them. */
const importedCount = 6_000;
/** More than the rows between two checkpoints, so that a service begins one soon after its start. */
const checkpointCount = 51_000;
const killedCode = 128 + 9;
const petsCount = setPets.length + batchPets.length;

export async function killCommands(lane: Lane): Promise<void> {
  const { round, random, folder } = lane;
  const place = openWorkspace();
  const works = round.isShort
    ? [firstStart, firstStart, importing]
    : [firstStart, firstStart, importing, importing, backup, backup, checkpoint];
  try {
    for (let kill = 0; goesOn(lane, kill); kill++) {
      const name = join(folder, `${kill}.db`);
      const work = random.pick(works);
      await work({ lane, place, name, database: `sqlite:${name}` });
    }
  } finally {
    await place.leave();
  }
}

interface Trial {
  readonly lane: Lane;
  readonly place: Workspace;
  /** The path of a store that does not exist yet. */
  readonly name: string;
  readonly database: string;
}

/** Kills a process at a random moment. Returns its exit code if it ended before. */
async function killWithin({ lane }: Trial, started: Started, ms: number): Promise<number> {
  const { round, random } = lane;
  await Promise.race([Bun.sleep(random.below(ms)), started.exited]);
  started.kill("SIGKILL");
  const code = await started.exited;
  if (code === killedCode) round.faults(1);
  if (code !== 0 && code !== killedCode) round.fail("wrong", `${code}: ${started.written()}`);
  return code;
}

async function check({ lane, database }: Trial, what: string): Promise<void> {
  for (const fault of await faultsIn(database, { told: [], asked: [] }, 0))
    lane.round.fail(fault.wrong, `${fault.what} (killed during ${what})`);
}

async function firstStart(trial: Trial): Promise<void> {
  const words = ["serve", "--port", "0", "--database", trial.database];
  await killWithin(trial, trial.place.start(words, trial.lane), 500);
  await check(trial, "the first start");
}

async function importing(trial: Trial): Promise<void> {
  const { lane, place, name, database } = trial;
  await createStore(database);
  writeFileSync(`${name}.ndjson`, importedRows(importedCount).join("\n"));
  const words = ["pets", "import", `${name}.ndjson`, "--format", "ndjson", "--database", database];
  const code = await killWithin(trial, place.start(words, lane), 1_000);
  const stored = await withStoreAt(database, async ({ inventory }) =>
    inventory.entriesAfter(null, 10_000),
  );
  if (code === 0) lane.round.acknowledged(1);
  if (stored.length !== petsCount + importedCount && (code === 0 || stored.length !== petsCount)) {
    const wrong = code === 0 ? "lost" : "wrong";
    lane.round.fail(wrong, `an import (exit code ${code}) left ${stored.length} entries`);
  }
  await check(trial, "an import");
}

async function backup(trial: Trial): Promise<void> {
  const { lane, place, name, database } = trial;
  await createStore(database);
  await importPets(database, ...importedRows(importedCount));
  const file = `${name}.petstore`;
  const started = place.start(["backup", file, "--database", database], lane);
  const code = await killWithin(trial, started, 800);
  if (code === 0) lane.round.acknowledged(1);
  if (existsSync(file)) {
    const restored = ["restore", file, "--database", `sqlite:${name}.restored`];
    const { code: restoredCode, err } = await place.run(restored);
    if (restoredCode !== 0) lane.round.fail("wrong", `a backup that was killed is bad: ${err}`);
  } else if (code === 0) lane.round.fail("lost", "a backup that was made is not there");
  await check(trial, "a backup");
}

async function checkpoint(trial: Trial): Promise<void> {
  const { lane, place, database } = trial;
  await createStore(database);
  await importPets(database, ...importedRows(checkpointCount));
  const service = await place.serve(["serve", "--database", database], lane);
  // The service looks for a checkpoint that is due after five seconds.
  await Bun.sleep(4_900);
  await killWithin(trial, service, 400);
  await check(trial, "a checkpoint");
}

function importedRows(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `{"petId":${1_000 + at},"name":"Imported"}`);
}
