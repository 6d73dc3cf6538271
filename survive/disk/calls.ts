// Calls of the service or of a command fail, are short or take long.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { petstore, type Workspace } from "../../test/support/process.ts";
import { withStoreAt } from "../../test/support/stocking.ts";
import type { Load } from "../load.ts";
import type { Round } from "../part.ts";
import { faultsIn } from "../store.ts";
import { createFaultFile } from "../tracer/faults.ts";
import { positionIn, traced } from "../tracer/trace.ts";
import { notKnown } from "./answers.ts";
import { chooseFault, failingFlushes } from "./faults.ts";
import { createSite, type Site, withLoad } from "./site.ts";

/** Calls of the service fail while it has load. */
export async function breakService(round: Round, place: Workspace): Promise<void> {
  const site = await createSite(place, join(round.folder, "data"));
  const { random, isShort } = round;
  const log = join(round.folder, "log");
  const faults = createFaultFile(join(round.folder, "faults"));
  const command = [...traced(site.data, log, faults.path), petstore];
  await withLoad(round, site, {
    ms: isShort ? 1_200 : 6_000,
    options: { command },
    position: () => positionIn(log),
    async work(isOver, answers, baseUrl) {
      const filling = isShort ? undefined : fillLog(site, baseUrl);
      while (!isOver()) {
        const fault = chooseFault(random, isShort);
        await Bun.sleep(random.below(100));
        faults.begin(fault);
        for (let n = 0; n < 20 && faults.injected() === 0; n++) await Bun.sleep(20);
        await Bun.sleep(random.below(300));
        round.faults(faults.end());
        await answers.recover(fault.name);
      }
      await filling;
      // It is killed now: the updates whose flushes failed are complete in the log, so some come back.
      faults.begin(failingFlushes);
      for (let n = 0; n < 3; n++) await answers.probe();
      round.faults(faults.injected());
    },
  });
}

/** Imports so many pets that SQLite soon moves the log into the database, while calls fail. */
async function fillLog({ keys }: Site, baseUrl: string): Promise<void> {
  const ids = Array.from({ length: 30_000 }, (_, at) => importedFrom + at);
  const response = await fetch(new URL("/admin/pets/import?format=ndjson", baseUrl), {
    method: "POST",
    headers: { Authorization: `Bearer ${keys.operatorKey}` },
    body: ids.map((petId) => `{"petId":${petId},"name":"Imported"}`).join("\n"),
  });
  // It may fail, or another import may be under way. The next round has another chance.
  await response.text();
}

/** Both fit the imports of the load, whose check sees these pets too. */
const importedFrom = 3_001_000;
const importedCount = 3_000;

/** Calls of imports, backups and restores fail while the service has load. */
export async function breakCommands(round: Round, place: Workspace): Promise<void> {
  const { random, isShort, folder } = round;
  const site = await createSite(place, join(folder, "data"));
  const { database } = site;
  const faults = createFaultFile(join(folder, "faults"));
  const ends: ((load: Load) => Promise<void>)[] = [];

  /** Runs a command whose calls fail. Returns undefined if it may have done its work or not. */
  async function isDone(words: readonly string[], stdin = ""): Promise<boolean | undefined> {
    const fault = chooseFault(random, isShort);
    faults.begin(fault);
    const command = [...traced(folder, join(folder, "log"), faults.path), petstore];
    const { code, err } = await place.run(words, { command, stdin });
    round.faults(faults.injected());
    if (code !== 0 && (code > 2 || err === "" || /^ +at /m.test(err)))
      round.fail("wrong", `${words.join(" ")} ended with ${code}: ${err} (${fault.name})`);
    return code === 0 ? true : err.includes(notKnown) ? undefined : false;
  }

  async function tryImport(first: number): Promise<void> {
    const ids = Array.from({ length: importedCount }, (_, at) => first + at);
    const rows = ids.map((petId) => `{"petId":${petId},"name":"Imported"}`).join("\n");
    const wasDone = await isDone(["pets", "import", "-", "--database", database], rows);
    ends.push(async () => {
      const entries = await withStoreAt(database, async ({ inventory }) =>
        inventory.entriesAfter(BigInt(first) - 1n, importedCount),
      );
      const found = entries.filter(({ petId }) => petId < first + importedCount).length;
      if (found !== 0 && found !== importedCount)
        round.fail("wrong", `${found} of ${importedCount} pets of an import are stored`);
      if (wasDone === true && found === 0) round.fail("lost", `import of pet ${first}`);
      if (wasDone === false && found > 0) round.fail("late", `import of pet ${first}`);
    });
  }

  /** A backup has everything that was acknowledged before it, or there is none. So has a restored store. */
  async function tryBackup(name: string): Promise<void> {
    const backup = join(folder, `${name}.petstore`);
    const beganAt = performance.now();
    const wasDone = await isDone(["backup", backup, "--database", database]);
    if (existsSync(backup) !== (wasDone === true))
      round.fail("wrong", `a backup ${wasDone ? "is missing" : "that failed is left"}`);
    if (!wasDone) return;
    mkdirSync(join(folder, name));
    const words = [
      "restore",
      backup,
      "--database",
      `sqlite:${join(folder, name, "production.db")}`,
    ];
    if (!(await isDone(words))) {
      const again = await place.run(words);
      if (again.code !== 0) round.fail("wrong", `no restore after one that failed: ${again.err}`);
    }
    ends.push(async ({ told, asked }) => {
      const before = told.filter(({ position }) => position <= beganAt);
      const load = { told: before, asked };
      for (const { wrong, what } of await faultsIn(words[3]!, load, Number.POSITIVE_INFINITY))
        round.fail(wrong, `${what} (restored from a backup)`);
    });
  }

  const load = await withLoad(round, site, {
    ms: isShort ? 1_000 : 6_000,
    async work(isOver) {
      for (let n = 0; n === 0 || !isOver(); n++) {
        if (random.chance(0.5)) await tryImport(importedFrom + n * importedCount);
        else await tryBackup(`backup-${n}`);
      }
    },
  });
  for (const end of ends) await end(load);
}
