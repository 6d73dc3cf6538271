import { expect, test } from "bun:test";
import { fuzz } from "../support/contract/fuzz.ts";

const seed = 20_261_118;

test("on sqlite 500 requests generated from openapi.json get only documented responses", async () => {
  const statuses = await fuzz("sqlite", 500, seed);
  // They reach every status but 422, which needs luck: the endurance test sends enough requests for it.
  const reached = [200, 304, 400, 401, 403, 404, 405, 409, 412, 413, 415];
  expect([...statuses.keys()]).toEqual(expect.arrayContaining(reached));
});

// Most requests are decided before the store is used, so that the other engine has fewer.
test("on postgres 100 requests generated from openapi.json get only documented responses", async () => {
  const statuses = await fuzz("postgres", 100, seed);
  expect(statuses.get(200)).toBeGreaterThan(0);
});
