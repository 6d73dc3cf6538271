import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../bench/processes.ts";
import { petstore } from "../../test/support/process.ts";
import type { Part } from "../part.ts";
import { createRandom } from "../random.ts";
import { killCommands } from "./commands.ts";
import type { Lane } from "./lane.ts";
import { killOnPostgres, killOnSqlite } from "./served.ts";

const killsPerLane = 25;
const binary = join(import.meta.dir, "../../dist/survive/petstore");
let built: Promise<unknown> | undefined;

/** Builds one executable. It starts in two thirds of the time, and most of a cycle is the start. */
async function build(): Promise<string> {
  built ??= run(["sh", join(import.meta.dir, "../../bin/build-binary"), binary]);
  await built;
  return binary;
}

/** Lanes run in parallel, to use every core. */
export const crash: Part = {
  name: "crash",
  share: 7,
  async round(round) {
    const { random, isShort } = round;
    const isOther = process.env.SURVIVE_PROGRAM !== undefined;
    const command = [isShort || isOther ? petstore : await build()];
    const rare = [killCommands, killOnPostgres, killOnSqlite];
    const works = isShort
      ? [killOnSqlite, killCommands]
      : [killOnSqlite, killOnSqlite, killOnSqlite, random.pick(rare)];
    const results = await Promise.allSettled(
      works.map((work, at) => {
        const folder = join(round.folder, `${at}`);
        mkdirSync(folder);
        const lane: Lane = {
          round,
          random: createRandom(random.below(2 ** 32)),
          folder,
          kills: isShort ? 3 : killsPerLane,
          command,
        };
        return work(lane);
      }),
    );
    for (const result of results) if (result.status === "rejected") throw result.reason;
  },
};
