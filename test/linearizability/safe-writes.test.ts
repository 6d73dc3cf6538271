import { expect, test } from "bun:test";
import { endureRetries } from "../support/safe-writes/trial.ts";
import { engines } from "../support/service.ts";

const rounds = { sqlite: 4, postgres: 4 };

test.each(engines)(
  "on %s a write that is sent again until it is acknowledged takes effect once, whatever is killed meanwhile",
  async (engine) => {
    const figures = await endureRetries(engine, rounds[engine], 100);
    // The guarantees are worth little unless answers were lost and results replayed.
    expect(figures.acknowledged).toBeGreaterThan(100 * rounds[engine]);
    expect(figures.replayed).toBeGreaterThan(50);
    expect(figures.rejected).toBeGreaterThan(20);
  },
  60_000,
);
