import { expect, test } from "bun:test";
import { failOver } from "../support/instances/failover.ts";

const rounds = 10;

test(`no acknowledged update is lost over ${rounds} failovers under load, three instances each`, async () => {
  for (let round = 0; round < rounds; round++) {
    const figures = await failOver(3, 300 + 100 * round, round % 2 ? "paused" : "killed");
    console.log(JSON.stringify(figures));
    expect(figures.recoveryMs).toBeLessThan(10_000);
  }
}, 900_000);
