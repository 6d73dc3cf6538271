import { hash } from "node:crypto";
import type { Part } from "../part.ts";
import { committing } from "./committing.ts";
import { counting } from "./counting.ts";
import { delivering } from "./delivering.ts";
import { limiting } from "./limiting.ts";
import { simulate, type World } from "./time.ts";

/** What is simulated. Every seed is tried with all of them. */
export const stories: Readonly<Record<string, (world: World) => Promise<void>>> = {
  committing,
  counting,
  limiting,
  delivering,
};

/** The seeds of a round: round 2 has those from 40 to 59. It takes a second or two. */
const seedsPerRound = 20;

/** Parts of the service with a simulated clock, scheduler and store: thousands of seeds a minute. */
export const simulation: Part = {
  name: "simulation",
  share: 2,
  async round(round) {
    const digests: string[] = [];
    for (let at = 0; at < seedsPerRound; at++) {
      const seed = (round.seed * seedsPerRound + at) >>> 0;
      for (const [name, story] of Object.entries(stories)) {
        const { failures, faults, acknowledged, digest } = await simulate(seed, story);
        round.faults(faults);
        round.acknowledged(acknowledged);
        digests.push(digest);
        for (const { wrong, what } of failures) round.fail(wrong, `${name}, seed ${seed}: ${what}`);
      }
    }
    round.figure("digest", hash("sha256", digests.join("\n")));
  },
};
