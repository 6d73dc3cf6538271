import { expect, test } from "bun:test";
import { stories } from "../../survive/simulation/part.ts";
import { simulate } from "../../survive/simulation/time.ts";

for (const [name, story] of Object.entries(stories)) {
  test(`a seed always gives the same world: ${name}`, async () => {
    const world = await simulate(8, story);
    expect(await simulate(8, story)).toEqual(world);
    expect((await simulate(9, story)).digest).not.toBe(world.digest);
  });
}
