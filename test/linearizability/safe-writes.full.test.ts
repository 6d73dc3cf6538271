import { expect, test } from "bun:test";
import { endureRetries } from "../support/safe-writes/trial.ts";
import { engines } from "../support/service.ts";

const rounds = { sqlite: 1, postgres: 2 };
const writesBetween = 40;

test.each(engines)(
  "on %s a write that is sent again until it is acknowledged takes effect once, whatever is killed meanwhile",
  async (engine) => {
    const load = { instances: 2, pauseMsMax: 200 };
    const figures = await endureRetries(engine, rounds[engine], writesBetween, load);
    expect(figures.wrong).toEqual([]);
    // The guarantees are worth little unless answers were lost and results replayed.
    expect(figures.acknowledged).toBeGreaterThan(writesBetween * rounds[engine]);
    expect(figures.replayed).toBeGreaterThan(10);
    expect(figures.rejected).toBeGreaterThan(0);
  },
);
