import { expect, test } from "bun:test";
import { clock } from "../../survive/clock/part.ts";
import { expectSurvival } from "../support/survive.ts";

const problem = await clock.findProblem?.();

test.skipIf(problem !== undefined)(
  "a service keeps its promises while its clock jumps by 400 days and back (needs cc)",
  async () => {
    const { acknowledged } = await expectSurvival(clock, 1);
    expect(acknowledged).toBeGreaterThan(0);
  },
);
