import type { Parameter } from "../../api/contract/operation.ts";
import { reference } from "../../api/contract/schema.ts";
import { keyIdPattern } from "../../api/parameters.ts";
import { keyNotFound } from "../keys.ts";
import { stepRule } from "../usage.ts";
import { exampleKeyId } from "./examples.ts";
import type { AdminContract } from "./operation.ts";
import { exampleUsage } from "./stock-schemas.ts";

const stepParameter: Parameter = {
  name: "step",
  in: "query",
  description:
    "`minute` for the minutes of the last 24 hours, `day` for the days of the last 13 months.",
  schema: { type: "string", enum: ["minute", "day"], default: "minute" },
  example: "minute",
};

const delay =
  "The counts include every request to this instance, and those to other instances up to 10 seconds ago. A crash can lose the last 10 seconds.";

export const getKeyUsage: AdminContract = {
  tag: "Keys",
  summary: "Get the usage of a key",
  description: `Returns how many requests a key sent: 1,440 minutes or 396 days, of which the last is the current one. ${delay}`,
  parameters: [
    {
      name: "keyId",
      in: "path",
      description: "The ID of the key.",
      schema: { type: "string", pattern: keyIdPattern },
      example: exampleKeyId,
    },
    stepParameter,
  ],
  success: {
    200: {
      description: "The usage of the key.",
      schema: reference("schemas", "Usage"),
      examples: { usage: { summary: "The first points", value: exampleUsage } },
    },
  },
  errors: ["invalid_request", "not_found"],
  messages: {
    invalid_request: { invalid_step: stepRule },
    not_found: { not_found: keyNotFound },
  },
};

export const getUsage: AdminContract = {
  tag: "Keys",
  summary: "Get the usage of all keys",
  description: `Returns how many requests all keys sent together, and how many had no valid key. ${delay}`,
  parameters: [stepParameter],
  success: {
    200: {
      description: "The usage of all keys.",
      schema: reference("schemas", "TotalUsage"),
      examples: {
        usage: { summary: "The first points", value: { ...exampleUsage, withoutKey: [0, 3, 0] } },
      },
    },
  },
  errors: ["invalid_request"],
  messages: { invalid_request: { invalid_step: stepRule } },
};
