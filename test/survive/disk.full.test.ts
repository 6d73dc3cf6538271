import { expect, test } from "bun:test";
import { canMount } from "../../survive/disk/file-systems.ts";
import { disk } from "../../survive/disk/part.ts";
import { expectSurvival } from "../support/survive.ts";

const problem = await disk.findProblem?.();

/** The seed chooses what a round breaks. */
async function expectNothingWrong(seed: number): Promise<void> {
  const { acknowledged } = await expectSurvival(disk, seed);
  expect(acknowledged).toBeGreaterThan(0);
}

test.skipIf(problem !== undefined)(
  "a store survives calls that fail, are short or take long (needs cc)",
  () => expectNothingWrong(0),
);

test.skipIf(!canMount())("a store survives a full file system (needs mount)", () =>
  expectNothingWrong(2),
);

test("a damaged page is reported by verify, or does no harm", () => expectNothingWrong(4));
