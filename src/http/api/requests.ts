import * as outcomes from "../../domain/requests/outcomes.ts";
import { invalidRequest } from "../../domain/running/errors.ts";
import type { Reply } from "../messages/reply.ts";
import type { IncomingRequest } from "../messages/requests.ts";
import type { Context } from "../pipeline/context.ts";
import { json, type Parameter } from "./contract/contract.ts";
import { exampleRequestId, exampleRow, exampleTime } from "./contract/examples.ts";
import * as schema from "./contract/schema.ts";
import type { ReadDeclaration } from "./declaration.ts";
import { quantityInvalid } from "./parameters.ts";

export const exampleError = {
  at: exampleTime,
  method: "PATCH",
  path: "/v1/inventory/7",
  status: 400,
  code: "invalid_request",
  message: quantityInvalid,
  durationMs: 3,
  userAgent: "till/2.4",
};

export const errorFields = {
  at: schema.time("When the response was sent."),
  method: schema.text("The method."),
  path: schema.text("The path, without the query."),
  status: schema.integer(400, 599, "The status of the response."),
  code: schema.text("The error code of the response."),
  message: schema.text("The message of the response."),
  durationMs: schema.number("From the arrival of the request until its response, in milliseconds."),
  userAgent: schema.textOrNull("The header `User-Agent`, or null."),
};

const refused = {
  requestId: exampleRequestId,
  outcome: "refused",
  advice: outcomes.advice.refused,
  error: exampleError,
  changes: [],
};
const ofStored = { advice: outcomes.advice.stored, error: null, changes: [exampleRow] };
const stored = { ...refused, outcome: "stored", ...ofStored };

export const requestSchemas: Readonly<Record<string, schema.Schema>> = {
  RequestError: schema.responseObject(
    "The error that a request got. Its body, its query and secrets are not kept.",
    errorFields,
    exampleError,
  ),
  RequestOutcome: schema.responseObject(
    "What became of a request.",
    {
      requestId: schema.text("The ID of the request."),
      outcome: schema.choice(
        outcomes.requestOutcomes,
        "`refused`: it got a 4xx. `failed`: it got a 5xx. Nothing was stored then, and nothing will be. `stored`: `changes` has what it stored. `unknown`: none of these is certain.",
      ),
      advice: schema.text("What to do now, in a sentence or two."),
      error: schema.nullable("RequestError", "The error that it got, or null if none is known."),
      changes: schema.listOf("LedgerRow", "What it stored. At most 1,000 rows."),
    },
    refused,
  ),
};

const requestIdPattern = /^req_[0-9a-f]{12}_[0-9]{1,16}$/;
const requestIdRule = `Path parameter 'requestId' must be the X-Request-Id of a response, such as ${exampleRequestId}.`;

const requestIdParameter: Parameter = {
  name: "requestId",
  in: "path",
  description: "The header `X-Request-Id` of the response.",
  schema: { type: "string", pattern: requestIdPattern.source },
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
  if (!requestIdPattern.test(requestId)) throw invalidRequest(requestIdRule);
  const outcome = await outcomes.findOutcome(context, requestId, keyId);
  return { status: 200, body: outcomes.outcomeJson(outcome) };
}

export const getRequest: ReadDeclaration = {
  method: "GET",
  path: "/requests/{requestId}",
  scope: "inventory:write",
  stability: "beta",
  contract: {
    summary: "Find out what became of a request",
    description:
      "Returns what became of a request that the same API key has sent, for example of an update whose response says that its outcome is not known. `advice` says what to do. Errors are known at once on the instance that sent them, and within about a second on others; the service keeps the last 100 of each key and code. A repeated request with the same `Idempotency-Key` has its own ID, and its changes have the ID of the first one.",
    parameters: [requestIdParameter],
    success: {
      200: json("What became of the request.", "RequestOutcome", {
        examples: {
          refused: { summary: "A request that was refused", value: refused },
          stored: { summary: "An update that is stored", value: stored },
        },
      }),
    },
  },
  handle: (context, { request, caller }) => replyOutcome(context, request, caller.keyId),
};
