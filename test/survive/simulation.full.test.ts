import { expect, test } from "bun:test";
import { simulation } from "../../survive/simulation/part.ts";
import { expectSurvival } from "../support/survive.ts";

test("the parts of the service keep their promises in simulated worlds", async () => {
  const { acknowledged } = await expectSurvival(simulation, 1);
  expect(acknowledged).toBeGreaterThan(0);
});
