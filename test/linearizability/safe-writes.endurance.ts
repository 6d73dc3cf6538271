import { expect, test } from "bun:test";
import { endureRetries } from "../support/safe-writes/trial.ts";
import { engines } from "../support/service.ts";

const rounds = 60;

test.each(engines)(
  `on %s writes with idempotency keys take effect once over ${rounds} faults`,
  async (engine) => {
    const figures = await endureRetries(engine, rounds, 200);
    console.log(JSON.stringify({ engine, ...figures }));
    expect(figures.acknowledged).toBeGreaterThan(rounds * 200);
  },
  1_200_000,
);
