import type { ErrorCode } from "../../../domain/errors.ts";
import { petNotFound } from "../../../domain/pets.ts";
import { mergePatchTypes } from "../../body.ts";
import * as messages from "../../messages.ts";
import type { HeaderId } from "./headers.ts";

export interface ErrorDescription {
  /** What happened and what to do, for someone reading the answer for the first time. */
  readonly description: string;
  /** Messages as the service words them, by their example's name; none where operations differ. */
  readonly examples: Readonly<Record<string, string>>;
  readonly headers?: readonly HeaderId[];
}

/** The refusals that operations of today can give. */
export const errors = {
  invalid_request: {
    description: "A part of the request breaks a rule; the message names it. Correct it first.",
    examples: {},
  },
  unauthorized: {
    description:
      "No good API key came with the request. A missing, mistyped, unknown, expired or revoked key and one of the other environment all look the same.",
    examples: { unauthorized: messages.missingKey },
    headers: ["WWW-Authenticate"],
  },
  insufficient_scope: {
    description: "The key is good, but was issued without the scope this operation needs.",
    examples: {},
    headers: ["ScopeChallenge"],
  },
  not_found: {
    description: "The store has no pet with this id.",
    examples: { not_found: petNotFound },
  },
  gone: {
    description: "The sunset date has passed; the operation will not come back.",
    examples: { gone: messages.operationGone },
  },
  precondition_failed: {
    description: "`If-Match` does not name the current state. Nothing was done.",
    examples: { precondition_failed: messages.listChanged },
  },
  payload_too_large: {
    description: "The body has more than 64 KiB.",
    examples: { payload_too_large: messages.bodyTooLarge(65_536) },
  },
  unsupported_media_type: {
    description:
      "`Content-Type` names something other than JSON; `Accept-Patch` lists what is read. Or the body is compressed; then `Accept-Encoding` says so.",
    examples: {
      unsupported_media_type: messages.unsupportedMediaType(mergePatchTypes),
      compressed: messages.compressedBody,
    },
    headers: ["Accept-Patch", "Accept-Encoding"],
  },
  rate_limit_exceeded: {
    description:
      "The minute or the day is used up. Wait for `Retry-After`, then back off exponentially: whoever keeps asking is banned for a while.",
    examples: {
      rate_limit_exceeded: messages.rateLimitExceeded(1000, "minute", "2026-11-15T12:01:00Z", 42),
    },
    headers: ["Retry-After"],
  },
  key_banned: {
    description: "The key kept asking after 429 and is refused until `X-RateLimit-Reset`.",
    examples: { key_banned: messages.keyBanned("2026-11-15T12:05:00Z", 300) },
    headers: ["Retry-After"],
  },
  internal_error: {
    description:
      "A fault of ours. It is logged under the request id; whether an update was recorded can be read from the list.",
    examples: { internal_error: messages.internalError("req_5f0c1e9a2b7d_42") },
  },
  unavailable: {
    description:
      "The store cannot be reached or is overloaded; wait for `Retry-After` and try again. If it went away during an update, the update may have been stored all the same: the list tells.",
    examples: { unavailable: "Too many updates are waiting to be stored; try again." },
    headers: ["Retry-After"],
  },
} as const satisfies Partial<Record<ErrorCode, ErrorDescription>>;

export type DescribedCode = keyof typeof errors;
