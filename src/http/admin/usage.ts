import { ServiceError } from "../../domain/running/errors.ts";
import {
  allKeys,
  type Step,
  steps,
  type UsageSeries,
  withoutKey,
} from "../../domain/usage/usage-history.ts";
import { exampleKeyId } from "../api/contract/examples.ts";
import type { Parameter } from "../api/contract/operation.ts";
import { reference } from "../api/contract/schema.ts";
import { keyIdPattern, queryOf, singleValue } from "../api/parameters.ts";
import type { Call } from "../pipeline/operation.ts";
import { keyNotFound, readKeyId } from "./keys.ts";
import type { AdminDeclaration } from "./operation.ts";

const stepParameter: Parameter = {
  name: "step",
  in: "query",
  description:
    "`minute` for the minutes of the last 24 hours, `day` for the days of the last 13 months.",
  schema: { type: "string", enum: ["minute", "day"], default: "minute" },
  example: "minute",
};

const delay =
  "Requests to other instances are included after up to 10 seconds. A crash can lose the last 10 seconds.";

const stepRule = `Query parameter 'step' must be one of ${steps.join(", ")}.`;

const getKeyUsage: AdminDeclaration = {
  method: "GET",
  path: "/keys/{keyId}/usage",
  contract: {
    tag: "Keys",
    summary: "Get the usage of a key",
    description: `Returns how many requests a key sent in each of 1,440 minutes or 396 days. The last one is the current minute or day. ${delay}`,
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
      },
    },
    errors: ["not_found"],
    messages: {
      invalid_request: { invalid_step: stepRule },
      not_found: { not_found: keyNotFound },
    },
  },
  async handle(context, call) {
    const { store, clock, admin } = context;
    const keyId = readKeyId(call);
    const step = readStep(call);
    if (!(await store.keys.findKey(keyId))) throw new ServiceError("not_found", keyNotFound);
    const series = await admin.usage.chart(keyId, step, clock.now());
    return { status: 200, body: JSON.stringify(seriesJson(step, series)) };
  },
};

/** All keys together, and all requests without a valid key. */
const getUsage: AdminDeclaration = {
  method: "GET",
  path: "/usage",
  contract: {
    tag: "Keys",
    summary: "Get the usage of all keys",
    description: `Returns how many requests all keys sent together, and how many had no valid key. ${delay}`,
    parameters: [stepParameter],
    success: {
      200: {
        description: "The usage of all keys.",
        schema: reference("schemas", "TotalUsage"),
      },
    },
    messages: { invalid_request: { invalid_step: stepRule } },
  },
  async handle({ clock, admin }, call) {
    const step = readStep(call);
    const now = clock.now();
    const series = await admin.usage.chart(allKeys, step, now);
    const anonymous = await admin.usage.chart(withoutKey, step, now);
    const sums = anonymous.admitted.map((count, point) => count + anonymous.refused[point]!);
    return {
      status: 200,
      body: JSON.stringify({ ...seriesJson(step, series), withoutKey: sums }),
    };
  },
};

function seriesJson(step: Step, { from, admitted, refused }: UsageSeries) {
  return { step, from: new Date(from).toISOString(), admitted, refused };
}

function readStep({ request }: Call): Step {
  const text = singleValue(queryOf(request), "step") ?? "minute";
  const step = steps.find((one) => one === text);
  if (!step) throw new ServiceError("invalid_request", stepRule);
  return step;
}

export const usageOperations = { getKeyUsage, getUsage };
