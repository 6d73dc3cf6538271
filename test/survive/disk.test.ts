import { expect, test } from "bun:test";
import { disk } from "../../survive/disk/part.ts";
import { expectSurvival } from "../support/survive.ts";

const problem = await disk.findProblem?.();

test.skipIf(problem !== undefined)(
  "a store survives calls that fail, are short or take long (needs cc)",
  async () => {
    const { acknowledged } = await expectSurvival(disk, 1);
    expect(acknowledged).toBeGreaterThan(0);
  },
);
