import { expect, test } from "bun:test";
import { endureRetries } from "../support/safe-writes/trial.ts";

const rounds = 60;

// The same on PostgreSQL is a part of `npm run survive`.
test(`on SQLite writes with idempotency keys take effect once over ${rounds} faults`, async () => {
  const figures = await endureRetries("sqlite", rounds, 200);
  console.log(JSON.stringify(figures));
  expect(figures.wrong).toEqual([]);
  expect(figures.acknowledged).toBeGreaterThan(rounds * 200);
}, 1_200_000);
