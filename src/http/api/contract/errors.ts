import { lastOwner } from "../../../domain/keys/store.ts";
import { keyReused } from "../../../domain/ledger/changes.ts";
import { petNotFound } from "../../../domain/ledger/inventory.ts";
import { rejectedMax } from "../../../domain/ledger/ledger.ts";
import { type ErrorCode, unavailableMessages } from "../../../domain/running/errors.ts";
import { changesMax } from "../../../domain/values/bounds.ts";
import * as messages from "../../messages/error-messages.ts";
import { statusOf } from "../../messages/errors.ts";
import type { HeaderId } from "./headers.ts";
import { int64, integer, listOf, quantity, responseObject, type Schema, text } from "./schema.ts";

export interface ErrorDescription {
  /** What happened and what the client can do about it. */
  readonly description: string;
  /** Added to the description on operations that change data. */
  readonly afterUpdate?: string;
  /** The messages the service sends, by the name of their example. Absent if operations differ. */
  readonly examples?: Readonly<Record<string, string>>;
  readonly headers?: readonly HeaderId[];
}

/** The errors that the current operations of all surfaces can return. */
export const errors = {
  invalid_request: {
    description:
      "A part of the request is invalid. `message` names the part and the rule. Do not retry the request unchanged.",
  },
  unauthorized: {
    description:
      "Missing or invalid API key. `message` names a mistake that the key itself shows, such as a typing error or the prefix of the other environment. The response is the same for an unknown, an expired and a revoked key.",
    examples: { unauthorized: messages.missingKey },
    headers: ["WWW-Authenticate"],
  },
  insufficient_scope: {
    description: "The API key is valid but does not have the scope that this operation requires.",
    headers: ["ScopeChallenge"],
  },
  cross_origin: {
    description:
      "The request is authenticated by the cookie of a session and may come from a page of another origin. Nothing was changed.",
    examples: { cross_origin: messages.crossOrigin },
  },
  not_found: { description: "No pet has this ID.", examples: { not_found: petNotFound } },
  gone: {
    description: "The sunset date has passed. The operation is permanently removed.",
    examples: { gone: messages.operationGone },
  },
  precondition_failed: {
    description:
      "`If-Match` does not match the current state. Nothing was changed. `ETag` is the current one.",
    examples: { precondition_failed: messages.listChanged },
    headers: ["ETag"],
  },
  insufficient_stock: {
    description:
      "A delta would make a quantity negative, or larger than 2^53 − 1. Nothing was changed.",
  },
  version_conflict: {
    description:
      "An entry does not have the `expectedVersion`. Nothing was changed. Read the entry, decide again and send a new request.",
  },
  already_exists: { description: "The ID is already in use. Nothing was changed." },
  already_running: {
    description: "The same task is already running. Try again when it has ended.",
  },
  last_owner: {
    description: "No other owner's key is valid for as long as this one. Nothing was changed.",
    examples: { last_owner: lastOwner },
  },
  idempotency_conflict: {
    description:
      "A request with this `Idempotency-Key` was made before. Nothing was made again. `details` has the ID of what the first request has made. Without it, that request is under way, or its outcome is not known.",
  },
  idempotency_key_reused: {
    description:
      "The `Idempotency-Key` belongs to an earlier request with another method, path or body. Nothing was changed. Use a new key for every new request.",
    examples: { idempotency_key_reused: keyReused },
  },
  payload_too_large: {
    description: "The body is larger than the operation accepts.",
    examples: {},
  },
  unsupported_media_type: {
    description:
      "Either `Content-Type` is not a supported JSON type, or the body is compressed. `Accept-Patch` or `Accept-Post` lists the supported types. For a compressed body, the response has `Accept-Encoding: identity`.",
    examples: {},
    headers: ["Accept-Encoding"],
  },
  rate_limit_exceeded: {
    description:
      "The limit per minute or per day is exceeded. Wait the number of seconds in `Retry-After` before you retry, and back off exponentially. Clients that keep sending requests are temporarily banned.",
    examples: {
      rate_limit_exceeded: messages.rateLimitExceeded(1000, "minute", "2026-11-15T12:01:00Z", 42),
    },
    headers: ["Retry-After"],
  },
  key_banned: {
    description:
      "The key is temporarily banned because it kept sending requests after a 429. The ban ends at `X-RateLimit-Reset`.",
    examples: { key_banned: messages.keyBanned("2026-11-15T12:05:00Z", 300) },
    headers: ["Retry-After"],
  },
  internal_error: {
    description:
      "An error in the service. The operator can find the cause in the log by the request ID.",
    afterUpdate:
      "The update may have been stored. If the request had an `Idempotency-Key`, send it again with the same key. Otherwise read the entry to check.",
    examples: { internal_error: messages.internalError("req_5f0c1e9a2b7d_42") },
  },
  unavailable: {
    description:
      "The database is unavailable or overloaded. Wait the number of seconds in `Retry-After`, then retry.",
    afterUpdate:
      "The message says if it is not known whether the update was stored. Then send it again with the same `Idempotency-Key` if it had one, or read the entry to check. With any other message, nothing was stored.",
    examples: { unavailable: unavailableMessages.unreachable },
    headers: ["Retry-After"],
  },
} as const satisfies Partial<Record<ErrorCode, ErrorDescription>>;

export type DescribedCode = keyof typeof errors;

/** Codes that no operation lists: they belong to no operation, or are not sent yet. */
export const unlistedErrors = {
  method_not_allowed: {
    description: "The path does not support this method. `Allow` lists the supported methods.",
  },
} as const satisfies Partial<Record<ErrorCode, Pick<ErrorDescription, "description">>>;

export const exampleShortLine = {
  ...{ index: 0, petId: 7, code: "insufficient_stock", requested: 2, available: 1 },
};

/** The bodies of error responses of an API that sends these codes. */
export function errorSchemas(codes: readonly ErrorCode[]): Readonly<Record<string, Schema>> {
  const error = errorSchema(codes);
  return {
    Error: error,
    BatchError: {
      ...error,
      description:
        "The body of an error response to a batch. `code` and `message` are about the first line that is at fault.",
      properties: {
        ...error.properties,
        details: {
          ...listOf(
            "FailedLine",
            "Every line that is at fault, in the order of the request. Each line is judged as if the others in this list were not in the request.",
          ),
          maxItems: rejectedMax,
        },
      },
    },
    FailedLine: responseObject(
      "A line of a batch that breaks a rule, so nothing of the batch was stored.",
      {
        index: integer(0, changesMax - 1, "The index of the line, from 0."),
        petId: int64("The ID of its pet."),
        code: text("What is wrong with this line: an error code."),
        requested: quantity("How many it takes. Only if it takes more than there are."),
        available: quantity(
          "How many there are for it: the lines before it that are not at fault have taken theirs. Only with `requested`.",
        ),
      },
      exampleShortLine,
      ["requested", "available"],
    ),
  };
}

function errorSchema(codes: readonly ErrorCode[]): Schema {
  const known = codes.map((code) => `\`${code}\` ${statusOf[code]}`).join(", ");
  return responseObject(
    "The body of every error response.",
    {
      code: {
        type: "string",
        description: `The error code, for programs. Each code has one HTTP status: ${known}. Later versions can add codes. Handle an unknown code by its status.`,
        "x-error-codes": Object.fromEntries(codes.map((code) => [code, statusOf[code]])),
      },
      message: text(
        "The error message, for people. It names the field or header and the rule. Do not parse it.",
      ),
      status: {
        type: "integer",
        format: "int32",
        minimum: 400,
        maximum: 599,
        description: "The HTTP status of the response.",
      },
    },
    { code: "not_found", message: petNotFound, status: 404 },
  );
}
