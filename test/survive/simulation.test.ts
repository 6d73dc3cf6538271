import { expect, test } from "bun:test";
import { simulation, stories } from "../../survive/simulation/part.ts";
import { simulate } from "../../survive/simulation/time.ts";
import { expectSurvival } from "../support/survive.ts";

test("the parts of the service keep their promises in simulated worlds", async () => {
  const { acknowledged } = await expectSurvival(simulation, 1);
  expect(acknowledged).toBeGreaterThan(0);
});

for (const [name, story] of Object.entries(stories)) {
  test(`a seed always gives the same world: ${name}`, async () => {
    for (const seed of [7, 8, 9]) {
      expect(await simulate(seed, story)).toEqual(await simulate(seed, story));
    }
    expect((await simulate(8, story)).digest).not.toBe((await simulate(9, story)).digest);
  });
}
