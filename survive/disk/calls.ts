// Calls of the service or of a command fail, are short or take long.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { petstore } from "../../test/support/process.ts";
import type { Load } from "../load.ts";
import type { Round } from "../part.ts";
import { writeImage } from "../power/disk.ts";
import { faultsIn } from "../store.ts";
import { type Operation, readLog } from "../tracer/log.ts";
import { positionIn, traced } from "../tracer/trace.ts";
import { chooseFault, createFaultFile } from "./faults.ts";
import { createForgetfulDisk } from "./lost-pages.ts";
import { type Site, withLoad } from "./site.ts";

/** Calls of the service fail while it has load. */
export async function breakService(round: Round, site: Site): Promise<void> {
  const { random, isShort } = round;
  const log = join(round.folder, "log");
  const faults = createFaultFile(join(round.folder, "faults"));
  const disk = createForgetfulDisk(site.data);
  const command = [...traced(site.data, log, faults.path), petstore];
  const load = await withLoad(round, site, {
    ms: isShort ? 1_200 : 6_000,
    options: { command },
    position: () => positionIn(log),
    async work(isOver, answers) {
      while (!isOver()) {
        const fault = chooseFault(random, isShort);
        await Bun.sleep(random.below(100));
        faults.begin(fault);
        for (let n = 0; n < 20 && faults.injected() === 0; n++) await Bun.sleep(20);
        await Bun.sleep(random.below(300));
        round.faults(faults.end());
        await answers.recover(fault.name);
      }
    },
  });
  await checkImages(round, site, readLog(log), load, disk);
}

/** After a failed flush, its pages may be lost although later flushes succeed. Nothing may depend on them. */
async function checkImages(
  round: Round,
  { data }: Site,
  operations: readonly Operation[],
  load: Load,
  disk: ReturnType<typeof createForgetfulDisk>,
): Promise<void> {
  const failures = operations.flatMap(({ kind }, at) => (kind === "failedSync" ? [at] : []));
  if (failures.length === 0) return;
  const points = new Set([operations.length - 1]);
  for (let n = round.isShort ? 3 : 15; n > 0; n--) {
    const at = round.random.pick(failures) + round.random.below(60);
    points.add(Math.min(at, operations.length - 1));
  }
  const copy = join(round.folder, "image");
  for (const [at, operation] of operations.entries()) {
    disk.apply(operation);
    if (!points.has(at)) continue;
    rmSync(copy, { recursive: true, force: true });
    mkdirSync(copy);
    // SQLite makes the index of the log again.
    const files = new Map([...disk.image()].filter(([path]) => !path.endsWith("-shm")));
    writeImage(files, data, copy);
    const database = `sqlite:${join(copy, "production.db")}`;
    for (const { wrong, what } of await faultsIn(database, load, operation.position))
      round.fail(wrong, `${what} (power lost at ${operation.position} after a failed flush)`);
  }
}
