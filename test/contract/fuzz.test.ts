import { expect, test } from "bun:test";
import { fuzz } from "../support/contract/fuzz.ts";

test.each([
  ["sqlite", "500"],
  ["postgres", "500"],
] as const)(
  "on %s %s requests generated from openapi.json get only documented responses",
  async (engine, count) => {
    const statuses = await fuzz(engine, Number(count.replace(",", "")), 20_261_115);
    // The requests reach every status they are meant to reach.
    expect([...statuses.keys()].sort()).toEqual([
      200, 304, 400, 401, 403, 404, 405, 409, 412, 413, 415, 422,
    ]);
  },
  30_000,
);
