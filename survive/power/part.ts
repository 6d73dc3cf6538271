import type { Part, Round } from "../part.ts";
import { compileTracer } from "../tracer/trace.ts";
import { checkImages, type Recording } from "./images.ts";
import { copyStore, createAnew, makeBackup, restoreBackup, serveLoad } from "./recordings.ts";
import { record } from "./stage.ts";

const imagesPerRound = 250;

type Kind = (round: Round) => AsyncGenerator<Recording>;

const kinds: Readonly<Record<string, Kind>> = {
  async *"served store"(round) {
    yield await record(round, serveLoad);
  },
  async *"failed flushes"(round) {
    yield await record(round, (stage) => serveLoad(stage, true));
  },
  async *creation(round) {
    yield await record(round, createAnew);
  },
  async *restore(round) {
    yield await record(round, restoreBackup);
  },
  async *backup(round) {
    yield await record(round, makeBackup);
  },
  async *"migrate-store"(round) {
    yield await record(round, copyStore);
  },
};

/** The kinds of rounds, by seed. A service writes most of the time, so most rounds are of it. */
const order = [
  ...["creation", "served store", "restore", "failed flushes", "served store"],
  ...["backup", "served store", "migrate-store", "failed flushes"],
];

/** The figures of all rounds so far. */
const images = new Map<string, number>();
const log = { restarts: 0, moved: 0, failures: 0 };

export const power: Part = {
  name: "power",
  share: 9,
  findProblem: compileTracer,
  async round(round) {
    const kind = order[round.seed % order.length]!;
    const recordings = await Array.fromAsync(kinds[kind]!(round));
    const changed = recordings.filter(({ operations }) => operations.length > 0);
    for (const recording of changed) {
      round.acknowledged(recording.acknowledged);
      countLog(recording);
    }
    const count = await checkImages(round, changed, round.isShort ? 30 : imagesPerRound);
    images.set(kind, (images.get(kind) ?? 0) + count);
    const texts = [...images].map(([name, number]) => `${number} of ${name}`);
    round.figure("images", texts.join(", "));
    round.figure(
      "write-ahead log",
      `${log.restarts} times begun, ${log.moved} writes to the database file, ${log.failures} failed flushes`,
    );
  },
};

function countLog({ operations }: Recording): void {
  for (const { kind, path, offset } of operations) {
    if (kind === "failed sync") log.failures += 1;
    if (kind !== "write") continue;
    if (path.endsWith("-wal") && offset === 0) log.restarts += 1;
    if (path.endsWith("production.db")) log.moved += 1;
  }
}
