import { boundedInteger, type Schema } from "../../api/contract/schema.ts";

/** Fields that many schemas of the operator API have. */

export const count = (description: string): Schema => ({
  ...boundedInteger(0, Number.MAX_SAFE_INTEGER),
  description,
});

export const time = (description: string): Schema => ({
  type: "string",
  format: "date-time",
  description,
});

export const timeOrNull = (description: string): Schema => ({
  type: ["string", "null"],
  format: "date-time",
  description,
});

export const textOrNull = (description: string): Schema => ({
  type: ["string", "null"],
  description,
});
