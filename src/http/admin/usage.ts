import { ServiceError } from "../../domain/running/errors.ts";
import {
  allKeys,
  type Step,
  steps,
  type UsageSeries,
  withoutKey,
} from "../../domain/usage/usage-history.ts";
import { json } from "../api/contract/contract.ts";
import { choiceParameter, readParameter } from "../api/parameters.ts";
import { queryOf } from "../messages/fields.ts";
import { ok } from "../messages/reply.ts";
import type { Call } from "../pipeline/operation.ts";
import type { AdminDeclaration } from "./admin-declaration.ts";
import { keyIdParameter, keyNotFound, notFound, readKeyId } from "./keys.ts";

const usual: Step = "minute";

const step = choiceParameter(
  "step",
  steps,
  "`minute` for the minutes of the last 24 hours, `day` for the days of the last 13 months.",
  "minute",
  usual,
);

const delay =
  "Requests to other instances are included after up to 10 seconds. A crash can lose the last 10 seconds.";

export const getKeyUsage: AdminDeclaration = {
  method: "GET",
  path: "/keys/{keyId}/usage",
  contract: {
    summary: "Get the usage of a key",
    description: `Returns how many requests a key sent in each of 1,440 minutes or 396 days. The last one is the current minute or day. ${delay}`,
    parameters: [keyIdParameter, step],
    success: { 200: json("The usage of the key.", "Usage") },
    messages: notFound,
  },
  async handle(context, call) {
    const { store, clock, admin } = context;
    const keyId = readKeyId(call.request.params);
    const step = readStep(call);
    if (!(await store.keys.findKey(keyId))) throw new ServiceError("not_found", keyNotFound);
    const series = await admin.usage.chart(keyId, step, clock.now());
    return ok(seriesJson(step, series));
  },
};

/** All keys together, and all requests without a valid key. */
export const getUsage: AdminDeclaration = {
  method: "GET",
  path: "/usage",
  contract: {
    summary: "Get the usage of all keys",
    description: `Returns how many requests all keys sent together, and how many had no valid key. ${delay}`,
    parameters: [step],
    success: { 200: json("The usage of all keys.", "TotalUsage") },
  },
  async handle({ clock, admin }, call) {
    const step = readStep(call);
    const now = clock.now();
    const series = await admin.usage.chart(allKeys, step, now);
    const anonymous = await admin.usage.chart(withoutKey, step, now);
    const sums = anonymous.admitted.map((count, point) => count + anonymous.refused[point]!);
    return ok({ ...seriesJson(step, series), withoutKey: sums });
  },
};

function seriesJson(step: Step, { from, admitted, refused }: UsageSeries) {
  return { step, from: new Date(from).toISOString(), admitted, refused };
}

function readStep({ request }: Call): Step {
  return readParameter(queryOf(request), step) ?? usual;
}
