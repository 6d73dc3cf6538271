import { ServiceError } from "../../domain/running/errors.ts";
import {
  allKeys,
  type Step,
  steps,
  type UsageSeries,
  withoutKey,
} from "../../domain/usage/usage-history.ts";
import { queryOf, singleValue } from "../api/parameters.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { keyNotFound, readKeyId } from "./keys.ts";

export const stepRule = `Query parameter 'step' must be one of ${steps.join(", ")}.`;

export async function getKeyUsage(context: Context, call: Call): Promise<Reply> {
  const { store, clock, admin } = context;
  const keyId = readKeyId(call);
  const step = readStep(call);
  if (!(await store.keys.findKey(keyId))) throw new ServiceError("not_found", keyNotFound);
  const series = await admin.usage.chart(keyId, step, clock.now());
  return { status: 200, body: JSON.stringify(seriesJson(step, series)) };
}

/** All keys together, and all requests without a valid key. */
export async function getUsage({ clock, admin }: Context, call: Call): Promise<Reply> {
  const step = readStep(call);
  const now = clock.now();
  const series = await admin.usage.chart(allKeys, step, now);
  const anonymous = await admin.usage.chart(withoutKey, step, now);
  const sums = anonymous.admitted.map((count, point) => count + anonymous.refused[point]!);
  return {
    status: 200,
    body: JSON.stringify({ ...seriesJson(step, series), withoutKey: sums }),
  };
}

function seriesJson(step: Step, { from, admitted, refused }: UsageSeries) {
  return { step, from: new Date(from).toISOString(), admitted, refused };
}

function readStep({ request }: Call): Step {
  const text = singleValue(queryOf(request), "step") ?? "minute";
  const step = steps.find((one) => one === text);
  if (!step) throw new ServiceError("invalid_request", stepRule);
  return step;
}
