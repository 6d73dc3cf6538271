import { unavailableMessages } from "../../../domain/errors.ts";
import { petStatuses, quantityMax } from "../../../domain/inventory.ts";
import { causes } from "../../../domain/ledger.ts";
import { webhookStates } from "../../../domain/webhooks/webhook.ts";
import {
  boundedInteger,
  int64,
  reference,
  responseObject,
  type Schema,
  seq,
} from "../../api/contract/schema.ts";
import { jsonTypes } from "../../body.ts";
import { bodyTooLarge, compressedBody, unsupportedMediaType } from "../../messages.ts";
import { overlapSecondsMax } from "../webhooks.ts";
import { exampleTime } from "./examples.ts";
import type { AdminContract } from "./operation.ts";

const exampleId = "wh_7mLs2CxWbNd4uVfKq0ZrT1";
const exampleSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const exampleFilter = { pets: [7], statuses: ["available"], causes: null, below: 5 };
const exampleWebhook = {
  id: exampleId,
  name: "Reorders",
  url: "https://shop.example/low-stock",
  state: "active",
  stateReason: null,
  createdAt: exampleTime,
  filter: exampleFilter,
  cursor: 1207,
  ...{ behind: 0, failures: 0, failingSince: null, nextAttemptAt: null, oldSecretUntil: null },
};
const exampleAttempt = {
  at: exampleTime,
  messageId: "msg_0aBcDeFgHiJkLmNo",
  ...{ firstSeq: 1207, lastSeq: 1207, changes: 1, durationMs: 43, status: 204, error: null },
  answer: "",
};

const integer = (description: string): Schema => ({
  ...boundedInteger(0, quantityMax),
  description,
});
const text = (description: string): Schema => ({ type: "string", description });
const textOrNull = (description: string): Schema => ({ type: ["string", "null"], description });
const time = (description: string): Schema => ({
  type: ["string", "null"],
  format: "date-time",
  description,
});
const choice = (description: string, values: readonly string[]): Schema => ({
  type: ["array", "null"],
  items: { type: "string", enum: values },
  description,
});
const pets = (description: string): Schema => ({
  type: ["array", "null"],
  items: int64("The ID of a pet."),
  description,
});

const fields: Record<string, Schema> = {
  id: text("The ID of the webhook."),
  name: text("The name of the webhook, for operators."),
  url: text("The address that receives the changes."),
  state: {
    type: "string",
    enum: webhookStates,
    description:
      "`paused`: by an operator, or because every attempt failed for days. `disabled`: the receiver returned 410.",
  },
  stateReason: textOrNull("Why it is not active. Null while it is."),
  createdAt: { type: "string", format: "date-time", description: "When it was created." },
  filter: { ...reference("schemas", "WebhookFilter"), description: "Which changes it receives." },
  cursor: seq("The last ledger row that was delivered, or that the filter excluded."),
  behind: integer("How many ledger rows come after the cursor."),
  failures: integer("Attempts that failed since the last success."),
  failingSince: time("When the first of them failed."),
  nextAttemptAt: time("When the next attempt is made, if it waits for one."),
  oldSecretUntil: time("Until when the previous secret signs, too."),
};

const withSecret = {
  ...fields,
  secret: text("Signs the messages. It is shown only in this response."),
};

export const webhookSchemas: Readonly<Record<string, Schema>> = {
  WebhookFilter: responseObject(
    "Which changes a webhook receives. A change must match every field that is not null.",
    {
      pets: pets("Only changes of these pets."),
      statuses: choice("Only changes after which a pet has one of these statuses.", petStatuses),
      causes: choice("Only changes with one of these causes.", causes),
      below: {
        ...boundedInteger(1, quantityMax),
        type: ["integer", "null"],
        description: "Only changes in which the quantity fell below this number.",
      },
    },
    exampleFilter,
  ),
  Webhook: responseObject("An address that changes are sent to.", fields, exampleWebhook),
  WebhookAttempt: responseObject(
    "One attempt to deliver a message.",
    {
      at: { type: "string", format: "date-time", description: "When it was made." },
      messageId: text("The ID of the message."),
      firstSeq: seq("The first change in the message."),
      lastSeq: seq("The last change in the message."),
      changes: integer("How many changes the message has."),
      durationMs: { type: "number", description: "How long the attempt took." },
      status: {
        ...boundedInteger(100, 999),
        type: ["integer", "null"],
        description: "The HTTP status. Null if there was no complete response.",
      },
      error: textOrNull("Why there was no complete response. Null if there was one."),
      answer: text("The beginning of the response body."),
    },
    exampleAttempt,
  ),
  WebhookWithAttempts: responseObject(
    "A webhook and its last attempts.",
    {
      ...fields,
      attempts: {
        type: "array",
        items: reference("schemas", "WebhookAttempt"),
        description: "The newest first.",
      },
    },
    { ...exampleWebhook, attempts: [exampleAttempt] },
  ),
  WebhookWithSecret: responseObject("A webhook and its new secret.", withSecret, {
    ...exampleWebhook,
    secret: exampleSecret,
  }),
  CreatedWebhook: responseObject(
    "A new webhook and its secret.",
    {
      ...withSecret,
      isResolved: {
        type: "boolean",
        description: "False if the host of the URL does not resolve at the moment.",
      },
    },
    { ...exampleWebhook, secret: exampleSecret, isResolved: true },
  ),
  NewWebhook: {
    type: "object",
    description: "A webhook to create. Fields that are null count as not given.",
    required: ["url"],
    properties: {
      url: text("The address that receives the changes. It must use https and be public."),
      name: textOrNull("The name of the webhook, for operators. By default, the host of the URL."),
      pets: pets("Only changes of these pets."),
      statuses: choice("Only changes after which a pet has one of these statuses.", petStatuses),
      causes: choice("Only changes with one of these causes.", causes),
      below: {
        ...boundedInteger(1, quantityMax),
        type: ["integer", "null"],
        description: "Only changes in which the quantity fell below this number.",
      },
      from: {
        ...boundedInteger(1, quantityMax),
        type: ["integer", "null"],
        description: "The ledger row of the first change to deliver. By default, the next one.",
      },
    },
    examples: [{ url: exampleWebhook.url, name: "Reorders", below: 5 }],
  },
  Replay: {
    type: "object",
    description: "Where to deliver from.",
    required: ["from"],
    properties: {
      from: {
        ...boundedInteger(1, quantityMax),
        description: "The ledger row of the first change to deliver.",
      },
    },
    examples: [{ from: 1200 }],
  },
  SecretRotation: {
    type: "object",
    description: "How long both secrets sign.",
    properties: {
      overlapSeconds: {
        ...boundedInteger(0, overlapSecondsMax),
        default: 86_400,
        description: "How long the previous secret signs, too.",
      },
    },
    examples: [{ overlapSeconds: 3_600 }],
  },
};

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
      invalid_overlap: `Field 'overlapSeconds' must be an integer from 0 to ${overlapSecondsMax}.`,
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
