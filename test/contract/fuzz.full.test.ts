import { expect, test } from "bun:test";
import { fuzz } from "../support/contract/fuzz.ts";

// Most requests are decided before the store is used, so that there are fewer than on the other engine.
test("on postgres 100 requests generated from openapi.json get only documented responses", async () => {
  const statuses = await fuzz("postgres", 100, 20_261_118);
  expect(statuses.get(200)).toBeGreaterThan(0);
});
