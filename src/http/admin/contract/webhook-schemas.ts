import { petStatuses, quantityMax } from "../../../domain/ledger/inventory.ts";
import { causes } from "../../../domain/ledger/ledger.ts";
import { lowStockRule } from "../../../domain/sales/sales.ts";
import { int64Pattern } from "../../../domain/values/int64.ts";
import { nameCharactersMax } from "../../../domain/values/texts.ts";
import { petsMax, urlCharactersMax } from "../../../domain/webhooks/terms.ts";
import { webhookStates } from "../../../domain/webhooks/webhook.ts";
import { exampleTime } from "../../api/contract/examples.ts";
import * as schema from "../../api/contract/schema.ts";
import { overlap } from "./key-schemas.ts";

export const exampleId = "wh_7mLs2CxWbNd4uVfKq0ZrT1";
export const exampleMessageId = "msg_0aBcDeFgHiJkLmNo";
const exampleSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const exampleFilter = { pets: [7], statuses: null, causes: null, below: 5, becomesLow: false };
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
  messageId: exampleMessageId,
  ...{ firstSeq: 1207, lastSeq: 1207, changes: 1, durationMs: 43, status: 204, error: null },
  answer: "",
};

const listOrNull = (description: string, items: schema.Schema): schema.Schema => ({
  type: ["array", "null"],
  items,
  description,
});
const statuses = listOrNull("Only changes after which a pet has one of these statuses.", {
  type: "string",
  enum: petStatuses,
});
const causesWanted = listOrNull("Only changes with one of these causes.", {
  type: "string",
  enum: causes,
});
const below = schema.orNull(
  schema.integer(1, quantityMax, "Only changes in which the quantity fell below this number."),
);
const becomesLow = schema.flag(
  `Whether only changes are sent by which an entry became low. ${lowStockRule} The threshold counts that the entry has when the change is read for delivery.`,
);

const firstRow = (description: string) => schema.integer(1, quantityMax, description);

const fields = {
  id: schema.text("The ID of the webhook."),
  name: schema.text("The name of the webhook, for operators."),
  url: schema.text("The address that receives the changes."),
  state: schema.choice(
    webhookStates,
    "`paused`: by an operator, or because every attempt failed for days. `disabled`: the receiver returned 410.",
  ),
  stateReason: schema.textOrNull("Why it is not active. Null while it is."),
  createdAt: schema.time("When it was created."),
  filter: schema.named("WebhookFilter", "Which changes it receives."),
  cursor: schema.seq("The last ledger row that was delivered, or that the filter excluded."),
  behind: schema.number("How many ledger rows come after the cursor."),
  failures: schema.number("Attempts that failed since the last success."),
  failingSince: schema.timeOrNull("When the first of these attempts failed."),
  nextAttemptAt: schema.timeOrNull("When the next attempt is made. Null if none is scheduled."),
  oldSecretUntil: schema.timeOrNull(
    "Until when messages are also signed with the previous secret.",
  ),
} satisfies Record<string, schema.Schema>;

/** The fields of a webhook in the order of responses. */
export const webhookNames = Object.keys(fields) as (keyof typeof fields)[];

const withSecret = {
  ...fields,
  secret: schema.text("The secret that signs the messages. It is shown only in this response."),
};

export const webhookSchemas: Readonly<Record<string, schema.Schema>> = {
  WebhookFilter: schema.responseObject(
    "Which changes a webhook receives. A change must match every field that is not null or false.",
    {
      pets: listOrNull("Only changes of these pets.", schema.int64("The ID of a pet.")),
      statuses,
      causes: causesWanted,
      below,
      becomesLow,
    },
    exampleFilter,
  ),
  Webhook: schema.responseObject("An address that changes are sent to.", fields, exampleWebhook),
  WebhookAttempt: schema.responseObject(
    "One attempt to deliver a message.",
    {
      at: schema.time("When it was made."),
      messageId: schema.text("The ID of the message."),
      firstSeq: schema.seq("The first change in the message, or 0 for a test message."),
      lastSeq: schema.seq("The last change in the message, or 0 for a test message."),
      changes: schema.number("How many changes the message has. A test message has none."),
      durationMs: { type: "number", description: "How long the attempt took, in milliseconds." },
      status: schema.orNull(
        schema.integer(100, 999, "The HTTP status. Null if no response arrived."),
      ),
      error: schema.textOrNull("Why no response arrived. Null if one did."),
      answer: schema.text("The beginning of the response body."),
    },
    exampleAttempt,
  ),
  WebhookWithAttempts: schema.responseObject(
    "A webhook and its last attempts.",
    {
      ...fields,
      attempts: schema.listOf("WebhookAttempt", "The last attempts, the newest first."),
    },
    { ...exampleWebhook, attempts: [exampleAttempt] },
  ),
  WebhookWithSecret: schema.responseObject("A webhook and its new secret.", withSecret, {
    ...exampleWebhook,
    secret: exampleSecret,
  }),
  CreatedWebhook: schema.responseObject(
    "A new webhook and its secret.",
    {
      ...withSecret,
      isResolved: schema.flag("False if the host of the URL does not resolve at the moment."),
    },
    { ...exampleWebhook, secret: exampleSecret, isResolved: true },
  ),
  NewWebhook: schema.requestObject(
    "A webhook to create. Fields that are null count as not given.",
    {
      url: {
        ...schema.text("The address that receives the changes. It must use https and be public."),
        format: "uri",
        maxLength: urlCharactersMax,
      },
      name: {
        ...schema.textOrNull(
          "The name of the webhook, for operators. By default, the host of the URL.",
        ),
        minLength: 1,
        maxLength: nameCharactersMax,
      },
      pets: {
        ...listOrNull(
          "Only changes of these pets. An ID can be a string, to keep all its digits.",
          {
            anyOf: [
              schema.int64("The ID of a pet."),
              { type: "string", pattern: `^${int64Pattern}$` },
            ],
          },
        ),
        minItems: 1,
        maxItems: petsMax,
      },
      statuses: { ...statuses, minItems: 1 },
      causes: { ...causesWanted, minItems: 1 },
      below,
      becomesLow: schema.orNull(becomesLow),
      from: schema.orNull(
        firstRow("The ledger row of the first change to deliver. By default, the next one."),
      ),
    },
    { url: exampleWebhook.url, name: "Reorders", below: 5 },
    ["url"],
  ),
  Replay: schema.requestObject(
    "Where to start.",
    { from: firstRow("The ledger row of the first change to deliver.") },
    { from: 1200 },
    ["from"],
  ),
  SecretRotation: schema.requestObject(
    "How to rotate the secret of a webhook.",
    { overlapSeconds: overlap("How long messages are also signed with the previous secret.") },
    { overlapSeconds: 3_600 },
  ),
};
