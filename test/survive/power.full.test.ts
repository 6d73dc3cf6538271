import { expect, test } from "bun:test";
import { power } from "../../survive/power/part.ts";
import { expectSurvival } from "../support/survive.ts";

const problem = await power.findProblem?.();

test.skipIf(problem !== undefined)(
  "a store survives a power loss at any point of a load (needs cc)",
  async () => {
    const { acknowledged } = await expectSurvival(power, 1);
    expect(acknowledged).toBeGreaterThan(0);
  },
);
