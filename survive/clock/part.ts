import { dayMs } from "../../src/domain/values/times.ts";
import type { Part } from "../part.ts";
import { openTrialDatabase } from "./database.ts";
import { compileClock } from "./movable-clock.ts";
import { startTrial } from "./trial.ts";

const hourMs = 3_600_000;

/** By how much a clock moves, one step after another. At 0 it stands still for a while. */
const moves = [[hourMs], [-hourMs], [400 * dayMs, -400 * dayMs], [0]] as const;

/** What the instances do while it moves. */
const manners = ["run", "stop", "kill"] as const;

export const clock: Part = {
  name: "clock",
  share: 2,
  findProblem: compileClock,
  async round(round) {
    const { random, isShort } = round;
    const engine = isShort ? "sqlite" : random.pick(["sqlite", "postgres"] as const);
    await using database = await openTrialDatabase(engine);
    await using trial = await startTrial(round, database);
    if (isShort) {
      await trial.move(400 * dayMs, "run");
      await trial.move(-400 * dayMs, "stop");
    } else {
      for (const steps of random.shuffle(moves)) {
        for (const ms of steps) await trial.move(ms, random.pick(manners));
        if (performance.now() > round.endsAt) break;
      }
    }
    await trial.end();
  },
};
