import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { Round } from "../part.ts";
import type { Fault } from "../store.ts";
import type { Operation } from "../tracer/log.ts";
import { type Disk, type Image, rests, writeImage } from "./disk.ts";
import type { Inspection, Things } from "./inspection.ts";

/** What commands and services did to the files in a folder, and how to judge a power loss meanwhile. */
export interface Recording {
  readonly folder: string;
  readonly operations: readonly Operation[];
  /** As it was before the first operation. */
  readonly disk: Disk;
  /** The same, but it ignores every flush. */
  readonly control: Disk;
  readonly things: Things;
  /** How many things the store had promised to keep. */
  readonly acknowledged: number;
  /** What is wrong if the power was lost after the operation that ends at this position. */
  judge(found: readonly Inspection[], position: number): Iterable<Fault>;
}

interface Loss {
  readonly position: number;
  readonly rest: string;
  readonly image: Image;
}

/** Two cores are what the smallest machines have. */
const inspectors = 2;
const roomBytes = 512 * 1024 * 1024;

/** Builds images, opens them and judges them. Returns how many. */
export async function checkImages(
  round: Round,
  recordings: readonly Recording[],
  count: number,
): Promise<number> {
  // Images are opened much faster in memory, and what they were made of is on the disk.
  const memory = "/dev/shm";
  const hasRoom = existsSync(memory) && roomIn(memory) >= roomBytes;
  const folder = mkdtempSync(join(hasRoom ? memory : round.folder, "petstore-survive-images-"));
  const workers = Array.from(
    { length: inspectors },
    () => new Worker(new URL("./inspection.ts", import.meta.url).href),
  );
  let images = 0;
  try {
    for (const recording of recordings) {
      const losses = lossesOf(recording, round, Math.ceil(count / recordings.length));
      const check = async (worker: Worker, number: number) => {
        for (const loss of losses) {
          const faults = await judged(recording, loss, worker, join(folder, `${number}`));
          if (loss.rest !== "control") images += 1;
          report(round, recording, loss, faults);
        }
      };
      await Promise.all(workers.map(check));
    }
  } finally {
    for (const worker of workers) worker.terminate();
    rmSync(folder, { recursive: true, force: true });
  }
  return images;
}

function roomIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Chooses when the power is lost. An image is valid until the next one is asked for. */
function* lossesOf(recording: Recording, { random }: Round, count: number): Generator<Loss> {
  const { operations, disk, control } = recording;
  // Most of what a service does are writes to the log. The rest is rarer and no less important.
  const rare = [...operations.keys()].filter((at) => !operations[at]!.path.endsWith("-wal"));
  const points = Array.from({ length: count }, () => {
    const place = random.fraction();
    if (place < 0.1) return operations.length - 1;
    return place < 0.4 && rare.length > 0 ? random.pick(rare) : random.below(operations.length);
  });
  const times = Map.groupBy(points, (at) => at);
  for (const [at, operation] of operations.entries()) {
    // After the last change, all that was done has been reported.
    const position =
      operation === operations.at(-1) ? Number.POSITIVE_INFINITY : operation.position;
    disk.apply(operation);
    control.apply(operation);
    for (const _ of times.get(at) ?? []) {
      const rest = random.pick(rests);
      yield { position, rest, image: disk.image(rest) };
    }
  }
  const position = Number.POSITIVE_INFINITY;
  yield { position, rest: "control", image: control.image("none") };
}

async function judged(recording: Recording, loss: Loss, worker: Worker, folder: string) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeImage(loss.image, recording.folder, folder);
  const found = await new Promise<readonly Inspection[]>((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage({ folder, things: recording.things });
  });
  return [
    ...found.flatMap(({ faults }) => faults).map((what): Fault => ({ wrong: "wrong", what })),
    ...(found.some(({ faults }) => faults.length > 0) ? [] : recording.judge(found, loss.position)),
  ];
}

function report(
  round: Round,
  recording: Recording,
  { position, rest }: Loss,
  faults: readonly Fault[],
): void {
  if (rest !== "control") {
    round.faults(1);
    // One line for each image and kind of fault: thousands of updates may be lost together.
    for (const [wrong, [first, ...others]] of Map.groupBy(faults, (one) => one.wrong)) {
      const more = others.length > 0 ? `, and ${others.length} more` : "";
      round.fail(wrong, `${first!.what}${more} (power lost at ${position}, ${rest} of the rest)`);
    }
  } else if (faults.length === 0 && recording.acknowledged > 0) {
    round.fail("wrong", "the control, a disk that ignores flushes, lost nothing");
  }
}
