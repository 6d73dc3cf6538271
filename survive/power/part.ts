import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace, petstore } from "../../test/support/process.ts";
import { type Load, sendLoad } from "../load.ts";
import type { Part, Round } from "../part.ts";
import { createStore, faultsIn } from "../store.ts";
import { type Operation, readLog } from "../tracer/log.ts";
import { compileTracer, positionIn, traced } from "../tracer/trace.ts";
import { createDisk, rests, writeImage } from "./disk.ts";

const imagesPerRound = 250;

export const power: Part = {
  name: "power",
  share: 11,
  findProblem: compileTracer,
  async round(round) {
    const { folder, random, isShort } = round;
    const data = join(folder, "data");
    const log = join(folder, "log");
    mkdirSync(data);
    const database = `sqlite:${join(data, "production.db")}`;
    const keys = await createStore(database);
    const disk = createDisk(data);
    const control = createDisk(data, true);
    const place = openWorkspace();
    let load: Load;
    try {
      const insecure = ["--webhooks-allow-insecure", "--webhooks-allowed-networks", "127.0.0.0/8"];
      const { baseUrl } = await place.serve(["serve", "--database", database, ...insecure], {
        command: [...traced(data, log), petstore],
      });
      const target = {
        ...keys,
        baseUrl: () => baseUrl,
        position: () => positionIn(log),
        mayFail: () => false,
      };
      load = await sendLoad(target, random, isShort ? 1_000 : 4_000);
    } finally {
      await place.leave();
    }
    round.acknowledged(load.told.length);
    await checkImages(round, data, readLog(log), load, disk, control);
  },
};

async function checkImages(
  round: Round,
  data: string,
  operations: readonly Operation[],
  load: Load,
  disk: ReturnType<typeof createDisk>,
  control: ReturnType<typeof createDisk>,
): Promise<void> {
  const { random } = round;
  const count = round.isShort ? 30 : imagesPerRound;
  const points = new Map<number, number>();
  for (let n = 0; n < count; n++) {
    const at = random.below(operations.length);
    points.set(at, (points.get(at) ?? 0) + 1);
  }
  for (const [at, operation] of operations.entries()) {
    disk.apply(operation);
    control.apply(operation);
    for (let n = points.get(at) ?? 0; n > 0; n--) {
      const rest = random.pick(rests);
      round.faults(1);
      const database = place(round, data, disk.image(rest, random));
      for (const { wrong, what } of await faultsIn(database, load, operation.position))
        round.fail(wrong, `${what} (power lost at ${operation.position}, ${rest} of the rest)`);
    }
  }
  const last = operations.at(-1)!.position;
  const database = place(round, data, control.image("none", random));
  const faults = await faultsIn(database, load, last);
  if (faults.length === 0)
    round.fail("wrong", "the control, a disk that ignores flushes, lost nothing");
}

/** Puts an image into a folder of its own. Returns the address of its store. */
function place(round: Round, data: string, image: ReadonlyMap<string, Buffer>): string {
  const copy = join(round.folder, "image");
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(copy);
  // The index of the log is in memory that no flush reaches. SQLite makes it again.
  const files = new Map([...image].filter(([path]) => !path.endsWith("-shm")));
  writeImage(files, data, copy);
  return `sqlite:${join(copy, "production.db")}`;
}
