import { boundedInteger, type Schema } from "../../api/contract/schema.ts";

/** Fields and examples that many schemas of the operator API have. */

export const count = (description: string): Schema => ({
  ...boundedInteger(0, Number.MAX_SAFE_INTEGER),
  description,
});

export const exampleOperatorId = "key_4uVfKq0ZrT1xWbNd7mLs2C";
export const exampleKeyId = "key_9aXpR2tQvB6yHcEw3jGk5M";
export const exampleTime = "2026-11-16T08:00:00.000Z";
export const exampleRequestId = "req_5f0c1e9a2b7d_42";
