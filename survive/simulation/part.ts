import type { Part } from "../part.ts";
import { committing } from "./committing.ts";
import { delivering } from "./delivering.ts";
import { limiting } from "./limiting.ts";
import { simulate, type World } from "./time.ts";

/** What is simulated. A seed tries all of them. */
export const stories: Readonly<Record<string, (world: World) => Promise<void>>> = {
  committing,
  limiting,
  delivering,
};

/** Seeds of one round: round 2 of 100 has the seeds from 200 to 299. */
const seedsPerRound = 100;

/** Parts of the service with a simulated clock, scheduler and store: thousands of seeds a minute. */
export const simulation: Part = {
  name: "simulation",
  share: 2,
  async round(round) {
    const seeds = round.isShort ? 25 : seedsPerRound;
    for (let at = 0; at < seeds; at++) {
      const seed = (round.seed * seedsPerRound + at) >>> 0;
      for (const [name, story] of Object.entries(stories)) {
        const { failures, faults, acknowledged } = await simulate(seed, story);
        round.faults(faults);
        round.acknowledged(acknowledged);
        for (const { wrong, what } of failures) round.fail(wrong, `${name}, seed ${seed}: ${what}`);
      }
    }
  },
};
