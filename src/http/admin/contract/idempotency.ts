import { errorCodes } from "../../../domain/running/errors.ts";
import type { Contract } from "../../api/contract/contract.ts";
import { errorSchemas } from "../../api/contract/errors.ts";
import { listOf, responseObject, type Schema, text } from "../../api/contract/schema.ts";
import { idempotencyKeyParameter } from "../../api/parameters.ts";
import { madeBefore } from "../../pipeline/gate.ts";
import type { Kind } from "../../pipeline/operation.ts";

const madeKeyParameter = {
  ...idempotencyKeyParameter,
  description:
    "Makes the request safe to send again. Generate a new unique value, such as a UUID, and send the same value with every attempt. A repeated request makes nothing again: it gets 409 with the ID of what the first one has made. The value is a string in quotes, or a token without quotes, of 1 to 255 characters. Each key has its own values. They are kept for 7 days unless the operator sets another time.",
};

const exampleMade = "wh_3kTq8Zs1";

const { Error: error } = errorSchemas(errorCodes);

export const madeSchemas: Readonly<Record<string, Schema>> = {
  MadeBefore: responseObject(
    "What a request with the same `Idempotency-Key` has made.",
    {
      id: text(
        "The ID of a key, a webhook or a pet, the name of a backup, or the `X-Request-Id` of an import or an undo.",
      ),
    },
    { id: exampleMade },
  ),
  MadeError: {
    ...error,
    description: "The body of an error response to a request that makes something.",
    properties: {
      ...error!.properties,
      details: listOf("MadeBefore", "Only with `idempotency_conflict`: what was made before."),
    },
  },
};

/** The contract of an operation of this kind, with its idempotency key. */
export function withIdempotencyKey(contract: Contract, kind: Kind): Contract {
  const { parameters = [], errors = [], messages, details } = contract;
  if (kind === "repeatable" || parameters.includes(idempotencyKeyParameter)) return contract;
  const reused = [...errors, "idempotency_key_reused"] as const;
  if (kind === "stock") {
    const success = { ...contract.success[200]!, headers: ["Idempotent-Replayed"] as const };
    const all = [...parameters, idempotencyKeyParameter];
    return { ...contract, parameters: all, success: { 200: success }, errors: reused };
  }
  return {
    ...contract,
    parameters: [...parameters, madeKeyParameter],
    errors: reused,
    messages: { ...messages, idempotency_conflict: { made_before: madeBefore(exampleMade) } },
    details: { ...details, idempotency_conflict: [{ id: exampleMade }] },
  };
}
