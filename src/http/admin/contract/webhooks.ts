import { unavailableMessages } from "../../../domain/running/errors.ts";
import { reference } from "../../api/contract/schema.ts";
import { jsonTypes } from "../../messages/body.ts";
import {
  bodyTooLarge,
  compressedBody,
  unsupportedMediaType,
} from "../../messages/error-messages.ts";
import { overlapRule } from "../overlaps.ts";
import type { AdminContract } from "./operation.ts";
import { exampleAttempt, exampleId, exampleSecret, exampleWebhook } from "./webhook-schemas.ts";

const webhookId = {
  name: "webhookId",
  in: "path",
  description: "The ID of the webhook.",
  schema: { type: "string" },
  example: exampleId,
} as const;

const notFound = { not_found: { not_found: `There is no webhook ${exampleId}.` } };
const bodyErrors = ["invalid_request", "payload_too_large", "unsupported_media_type"] as const;
const bodyMessages = {
  payload_too_large: { payload_too_large: bodyTooLarge(64 * 1_024) },
  unsupported_media_type: {
    unsupported_media_type: unsupportedMediaType(jsonTypes),
    compressed: compressedBody,
  },
};

const one = (description: string, schema: string, value: unknown) => ({
  description,
  schema: reference("schemas", schema),
  examples: { webhook: { summary: "A webhook", value } },
});

export const listWebhooks: AdminContract = {
  tag: "Webhooks",
  summary: "List webhooks",
  description: "Returns all webhooks. A store has at most 100.",
  success: {
    200: {
      description: "The webhooks.",
      schema: { type: "array", items: reference("schemas", "Webhook") },
      examples: { one: { summary: "One webhook", value: [exampleWebhook] } },
    },
  },
  errors: [],
};

export const getWebhook: AdminContract = {
  tag: "Webhooks",
  summary: "Get a webhook",
  description: "Returns a webhook and its last 50 attempts.",
  parameters: [webhookId],
  success: {
    200: one("The webhook.", "WebhookWithAttempts", {
      ...exampleWebhook,
      attempts: [exampleAttempt],
    }),
  },
  errors: ["not_found"],
  messages: notFound,
};

export const createWebhook: AdminContract = {
  tag: "Webhooks",
  summary: "Create a webhook",
  description:
    "Creates a webhook. The response is the only one with its secret. The address must use https and resolve to public addresses, unless the service is configured differently.",
  body: {
    description: "The webhook.",
    schema: reference("schemas", "NewWebhook"),
    examples: {
      low_stock: {
        summary: "Changes in which a quantity falls below 5",
        value: { url: exampleWebhook.url, name: "Reorders", below: 5 },
      },
    },
  },
  success: {
    201: one("The new webhook.", "CreatedWebhook", {
      ...exampleWebhook,
      secret: exampleSecret,
      isResolved: true,
    }),
  },
  errors: bodyErrors,
  messages: {
    ...bodyMessages,
    invalid_request: { invalid_url: "Field 'url' must be https://HOST/…." },
  },
};

/** An operation that changes the state of a webhook and returns it. */
function change(summary: string, description: string): AdminContract {
  return {
    tag: "Webhooks",
    summary,
    description,
    parameters: [webhookId],
    success: { 200: one("The webhook.", "Webhook", exampleWebhook) },
    errors: ["not_found"],
    messages: { ...notFound, unavailable: { busy: unavailableMessages.busy } },
  };
}

export const pauseWebhook = change(
  "Pause a webhook",
  "Stops the deliveries. An attempt that is under way is completed. A webhook that is not active keeps its state and the reason for it.",
);

export const resumeWebhook = change(
  "Resume a webhook",
  "Continues after the last change that was delivered, at once, also if the webhook is failing.",
);

export const replayWebhook: AdminContract = {
  ...change(
    "Replay changes",
    "Delivers from a change on, with new message IDs. A webhook that is not active stays so.",
  ),
  body: {
    description: "Where to deliver from.",
    schema: reference("schemas", "Replay"),
    examples: { again: { summary: "From row 1200 on", value: { from: 1200 } } },
  },
  errors: ["not_found", ...bodyErrors],
  messages: {
    ...notFound,
    ...bodyMessages,
    invalid_request: {
      invalid_from:
        "Field 'from' must be the number of a change, from 1 to 1208 (the next change).",
    },
  },
};

export const rotateWebhookSecret: AdminContract = {
  ...change(
    "Rotate the secret of a webhook",
    "Gives a webhook a new secret. The response is the only one with it. The previous secret signs as well for the overlap.",
  ),
  body: {
    description: "The overlap.",
    isOptional: true,
    schema: reference("schemas", "SecretRotation"),
    examples: { hour: { summary: "An hour", value: { overlapSeconds: 3_600 } } },
  },
  success: {
    200: one("The webhook.", "WebhookWithSecret", { ...exampleWebhook, secret: exampleSecret }),
  },
  errors: ["not_found", ...bodyErrors],
  messages: {
    ...notFound,
    ...bodyMessages,
    invalid_request: {
      invalid_overlap: `Field 'overlapSeconds' ${overlapRule}.`,
    },
  },
};

export const removeWebhook: AdminContract = {
  tag: "Webhooks",
  summary: "Delete a webhook",
  description: "Deletes a webhook, its secrets and its delivery log.",
  parameters: [webhookId],
  success: { 204: { description: "The webhook is deleted." } },
  errors: ["not_found"],
  messages: notFound,
};
