import { expect, test } from "bun:test";
import { soak } from "../../survive/soak/part.ts";
import { expectSurvival } from "../support/survive.ts";

test("both engines keep what they acknowledged in a mixed load with operators, streams and backups", async () => {
  const { acknowledged } = await expectSurvival(soak, 1);
  expect(acknowledged).toBeGreaterThan(0);
});
