import {
  changeMessage,
  outOfRangeMessage,
  versionConflictMessage,
} from "../../../domain/ledger/changes.ts";
import { petNotFound } from "../../../domain/ledger/inventory.ts";
import type { Change, Rejected } from "../../../domain/ledger/ledger.ts";
import { unavailableMessages } from "../../../domain/running/errors.ts";
import { jsonTypes } from "../../messages/body.ts";
import * as messages from "../../messages/error-messages.ts";
import { changesRequired, oneAmountRule, petIdFieldRule } from "../change-list.ts";
import { idempotencyKeyRule } from "../idempotency.ts";
import { exampleChanged, exampleChanges } from "./examples.ts";
import { idempotencyKeyParameter } from "./inventory.ts";
import type { Contract } from "./operation.ts";
import { reference } from "./schema.ts";

/** The change and the entry of the examples. */
const petId = 7n;
const change: Change = { petId, kind: "add", amount: -2, expected: [{ seq: 1193 }], reason: null };
const current = { petId, quantity: 1, status: "available", version: 1207 } as const;
const rejected: Rejected = {
  kind: "rejected",
  reason: "out_of_range",
  index: 0,
  current,
  epoch: undefined,
};

export const applyChanges: Contract = {
  tag: "Inventory",
  summary: "Apply several changes",
  description: `Applies up to 1,000 changes in one request. All are stored, or none. A change either sets the count (\`quantity\`) or adds to it (\`delta\`, which can be negative). The changes are applied in order, and a pet can appear more than once.

Use \`delta\` for sales and deliveries: two tills that sell at the same moment cannot overwrite each other. Use \`expectedVersion\` when a new count depends on one that you have read: the request fails if the entry has changed since.

If one change is invalid, names an unknown pet, would make a quantity negative or expects another version, no change is made. The message names the index of that change (from 0), the pet and the rule: \`Change 3 (pet 17): …\`.

The response is sent after the changes are stored durably. The request counts as one against the rate limit. The headers \`If-Match\` and \`X-Change-Reason\` return 400 here: use \`expectedVersion\` and \`reason\`.`,
  parameters: [idempotencyKeyParameter],
  body: {
    description:
      "The changes. The body can have at most 256 KiB. It can also be sent without a `Content-Type`.",
    schema: reference("schemas", "StockChanges"),
    examples: {
      sale: { summary: "A sale", value: { changes: exampleChanges.changes.slice(0, 1) } },
      sale_and_count: { summary: "A sale, and a count with a condition", value: exampleChanges },
    },
  },
  success: {
    200: {
      description: "The entries after the changes.",
      headers: ["Idempotent-Replayed"],
      schema: reference("schemas", "AppliedChanges"),
      examples: { applied: { summary: "Two changed entries", value: exampleChanged } },
    },
  },
  errors: [
    "invalid_request",
    "not_found",
    "insufficient_stock",
    "version_conflict",
    "payload_too_large",
    "unsupported_media_type",
    "idempotency_key_reused",
  ],
  messages: {
    invalid_request: {
      invalid_changes: changesRequired,
      invalid_change_petId: `Change 0: ${petIdFieldRule}`,
      invalid_change: changeMessage(0, petId, oneAmountRule),
      invalid_idempotency_key: idempotencyKeyRule,
    },
    not_found: { not_found: changeMessage(0, 8n, petNotFound) },
    insufficient_stock: {
      insufficient_stock: changeMessage(0, petId, outOfRangeMessage(change, rejected)),
    },
    version_conflict: {
      version_conflict: changeMessage(0, petId, versionConflictMessage(change, rejected)),
    },
    payload_too_large: { payload_too_large: messages.bodyTooLarge(262_144) },
    unsupported_media_type: {
      unsupported_media_type: messages.unsupportedMediaType(jsonTypes),
      compressed_body: messages.compressedBody,
    },
    unavailable: { too_many_updates: unavailableMessages.tooManyUpdates },
  },
  headers: ["X-Stability"],
};
