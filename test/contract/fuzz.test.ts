import { expect, test } from "bun:test";
import { fuzz } from "../support/contract/fuzz.ts";

test("2,000 requests generated from openapi.json get only documented responses", async () => {
  const statuses = await fuzz(2_000, 20_261_115);
  // The requests reach every status they are meant to reach.
  expect([...statuses.keys()].sort()).toEqual([200, 400, 401, 403, 404, 405, 409, 412, 413, 415]);
});
