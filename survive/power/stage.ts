import { join } from "node:path";
import {
  openWorkspace,
  petstore,
  type Served,
  type Workspace,
} from "../../test/support/process.ts";
import type { Round } from "../part.ts";
import { createFaultFile, type FaultFile } from "../tracer/faults.ts";
import { readLog } from "../tracer/log.ts";
import { positionIn, traced } from "../tracer/trace.ts";
import { createDisk } from "./disk.ts";
import type { Recording } from "./images.ts";

/** Where a recording is made: commands run in a folder, and what they do to its files is recorded. */
export interface Stage {
  readonly round: Round;
  readonly place: Workspace;
  /** The faults of a service that is started with them. */
  readonly faults: FaultFile;
  /** Begins to record. What is in the folder is on the disk. */
  begin(): void;
  position(): number;
  /** Runs a command, which must succeed. Returns what it printed. */
  run(...words: string[]): Promise<string>;
  serve(words: readonly string[], isFailing?: boolean): Promise<Served>;
}

export type Judged = Pick<Recording, "things" | "acknowledged" | "judge">;

/** Makes a recording and ends everything that it started. */
export async function record(
  round: Round,
  act: (stage: Stage) => Promise<Judged>,
): Promise<Recording> {
  const place = openWorkspace();
  const log = join(round.folder, "log");
  const faults = createFaultFile(join(round.folder, "faults"));
  const start = (faults?: string) => ({
    command: [...traced(place.folder, log, faults), petstore],
  });
  let disks: Pick<Recording, "disk" | "control"> | undefined;
  await Bun.write(log, "");
  const stage: Stage = {
    round,
    place,
    faults,
    begin() {
      const { folder } = place;
      disks = {
        disk: createDisk(folder, round.random),
        control: createDisk(folder, round.random, true),
      };
    },
    position: () => positionIn(log),
    async run(...words) {
      const { code, out, err } = await place.run(words, start());
      if (code !== 0) throw new Error(`${words.join(" ")} failed: ${err}`);
      return out;
    },
    serve: (words, isFailing = false) =>
      place.serve(words, start(isFailing ? faults.path : undefined)),
  };
  try {
    const judged = await act(stage);
    const operations = readLog(log).filter(({ path }) => !path.endsWith("-shm"));
    return { ...judged, ...disks!, operations, folder: place.folder };
  } finally {
    await place.leave();
  }
}
