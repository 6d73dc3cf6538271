import { expect, test } from "bun:test";
import { resolve } from "node:path";

const program = resolve(import.meta.dir, "../../survive/main.ts");

/**
 * Runs one round in a process of its own. A simulated world has the timers and the clock of its process, which
 * work that another file of tests has left would use too.
 */
async function simulate(seed: number) {
  const words = ["--only", "simulation", "--rounds", "1", "--seed", String(seed)];
  const child = Bun.spawn([process.execPath, program, ...words], { stderr: "inherit" });
  const out = await new Response(child.stdout).text();
  expect({ code: await child.exited, out }).toMatchObject({ code: 0 });
  const [, faults, acknowledged] = /^\| simulation \| 1 \| (\d+) \| (\d+) \|/m
    .exec(out)!
    .map(Number);
  const [, digest] = /^simulation: digest: (\w+)$/m.exec(out)!;
  return { faults, acknowledged, digest };
}

test("the parts of the service keep their promises in simulated worlds, which a seed repeats exactly", async () => {
  const [round, again, other] = await Promise.all([1, 1, 2].map(simulate));
  expect(round!.faults).toBeGreaterThan(0);
  expect(round!.acknowledged).toBeGreaterThan(0);
  expect(again).toEqual(round!);
  expect(other!.digest).not.toBe(round!.digest);
});
