import { expect, test } from "bun:test";
import { type ObjectStorage, startObjectStorage } from "./support/object-storage.ts";
import { openWorkspace } from "./support/process.ts";
import {
  litestreamWindowMs,
  runReplicaTrial,
  startLitestream,
  startLitestreamIn,
} from "./support/replica-trial.ts";

/** Loses many machines whose store Litestream copies, and prints how old the lost updates were. */

const rounds = 8;
/** On a busy machine, as many other programs want a processor all the time. */
const otherPrograms = 6;

for (const target of ["folder", "bucket"])
  for (const programs of [0, otherPrograms]) {
    test.skipIf(!Bun.which("litestream"))(
      `many lost machines lose nothing older than the window, to a ${target}, beside ${programs} programs (needs litestream)`,
      async () => {
        const place = openWorkspace();
        let storage: ObjectStorage | undefined;
        try {
          for (let at = 0; at < programs; at++)
            place.start(["-c", "ulimit -t 600; while :; do :; done"], { command: ["sh"] });
          const lostMs: number[] = [];
          for (let round = 0; round < rounds; round++) {
            storage = await startObjectStorage();
            const start = target === "bucket" ? startLitestreamIn(storage) : startLitestream;
            // The first copy of a trial is made directly after a sync.
            lostMs.push(...(await runReplicaTrial(start, litestreamWindowMs)).slice(1));
            storage.stop();
          }
          const sorted = lostMs.sort((one, other) => one - other);
          const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!;
          const figures = { machines: sorted.length, medianMs: at(0.5), maxMs: at(1) };
          console.log(target, programs, JSON.stringify({ ...figures, sorted }));
          expect(figures.machines).toBe(3 * rounds);
        } finally {
          storage?.stop();
          await place.leave();
        }
      },
      900_000,
    );
  }
