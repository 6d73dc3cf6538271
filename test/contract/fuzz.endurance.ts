import { expect, test } from "bun:test";
import { fuzz } from "../support/contract/fuzz.ts";
import { engines } from "../support/service.ts";

test.each(engines)(
  "on %s 20,000 random requests generated from openapi.json get only documented responses",
  async (engine) => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    console.log(`seed ${seed}`);
    const statuses = await fuzz(engine, 20_000, seed);
    console.log(Object.fromEntries(statuses));
    expect(statuses.get(422)).toBeGreaterThan(0);
  },
  600_000,
);
