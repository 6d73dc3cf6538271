import { findOutcome, outcomeJson, requestOutcomes } from "../../domain/requests/outcomes.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { Reply } from "../messages/reply.ts";
import type { IncomingRequest } from "../messages/requests.ts";
import type { Context } from "../pipeline/context.ts";
import { exampleRequestId, exampleRow, exampleTime } from "./contract/examples.ts";
import { json, type Parameter } from "./contract/operation.ts";
import {
  choice,
  count,
  integer,
  listOf,
  nullable,
  responseObject,
  type Schema,
  text,
  textOrNull,
  time,
} from "./contract/schema.ts";
import type { Declaration } from "./operation.ts";

export const exampleRefused = {
  requestId: exampleRequestId,
  at: exampleTime,
  method: "PATCH",
  path: "/v1/inventory/7",
  status: 400,
  code: "invalid_request",
  message: "Field 'quantity' must be an integer from 0 to 9007199254740991.",
  durationMs: 3,
  userAgent: "till/2.4",
};

export const refusedFields = {
  requestId: text("The `X-Request-Id` of the response."),
  at: time("When the response was sent."),
  method: text("The method."),
  path: text("The path, without the query."),
  status: integer(400, 599, "The status of the response."),
  code: text("The error code of the response."),
  message: text("The message of the response."),
  durationMs: count("From the arrival of the request until its response, in milliseconds."),
  userAgent: textOrNull("The header `User-Agent`, or null."),
};

const exampleOutcome = {
  requestId: exampleRequestId,
  outcome: "refused",
  advice: "Nothing was stored, and nothing will be. The message says what to change.",
  error: exampleRefused,
  changes: [],
};
const exampleStored = {
  requestId: exampleRequestId,
  outcome: "stored",
  advice: "The changes are stored. Do not send the request again.",
  error: null,
  changes: [exampleRow],
};

export const requestSchemas: Readonly<Record<string, Schema>> = {
  RefusedRequest: responseObject(
    "A request that got an error. Its body, its query and secrets are not kept.",
    refusedFields,
    exampleRefused,
  ),
  RequestOutcome: responseObject(
    "What became of a request.",
    {
      requestId: text("The ID of the request."),
      outcome: choice(
        requestOutcomes,
        "`refused`: it got a 4xx. `failed`: it got a 5xx. Nothing was stored then, and nothing will be. `stored`: `changes` has what it stored. `unknown`: none of these is certain.",
      ),
      advice: text("What to do now, in a sentence or two."),
      error: nullable("RefusedRequest", "The error that it got, or null if none is known."),
      changes: listOf("LedgerRow", "What it stored. At most 1,000 rows."),
    },
    exampleOutcome,
  ),
};

const requestIdPattern = "^req_[0-9a-f]{12}_[0-9]{1,16}$";
const requestIdRule =
  "Path parameter 'requestId' must be the X-Request-Id of a response, such as req_5f0c1e9a2b7d_42.";

const requestIdParameter: Parameter = {
  name: "requestId",
  in: "path",
  description: "The header `X-Request-Id` of the response.",
  schema: { type: "string", pattern: requestIdPattern },
  example: exampleRequestId,
  messages: { invalid_requestId: requestIdRule },
};

/** With a key, only of its own requests. */
export async function replyOutcome(
  context: Context,
  { params }: IncomingRequest,
  keyId?: string,
): Promise<Reply> {
  const requestId = params?.requestId ?? "";
  if (!new RegExp(requestIdPattern).test(requestId)) {
    throw new ServiceError("invalid_request", requestIdRule);
  }
  return { status: 200, body: outcomeJson(await findOutcome(context, requestId, keyId)) };
}

export const getRequest: Declaration = {
  method: "GET",
  path: "/requests/{requestId}",
  scope: "inventory:write",
  stability: "beta",
  contract: {
    summary: "Find out what became of a request",
    description:
      "Returns what became of a request that the same API key has sent. Use it when the response to an update was lost or says that the outcome is not known. `advice` says what to do. Errors are known at once on the instance that sent them, and within about a second on others; the service keeps the last 100 of each key and code. A repeated request with the same `Idempotency-Key` has its own ID, and its changes have the ID of the first one.",
    parameters: [requestIdParameter],
    success: {
      200: json("What became of the request.", "RequestOutcome", {
        examples: {
          refused: { summary: "A request that was refused", value: exampleOutcome },
          stored: { summary: "An update that is stored", value: exampleStored },
        },
      }),
    },
  },
  handle: (context, { request, caller }) => replyOutcome(context, request, caller.keyId),
};

export const requestOperations = { getRequest };
