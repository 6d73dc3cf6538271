import { petStatuses, quantityMax } from "../../../domain/ledger/inventory.ts";
import { causes } from "../../../domain/ledger/ledger.ts";
import { lowStockRule } from "../../../domain/sales/sales.ts";
import { int64Pattern } from "../../../domain/values/int64.ts";
import { nameCharactersMax } from "../../../domain/values/texts.ts";
import { petsMax, urlCharactersMax } from "../../../domain/webhooks/terms.ts";
import { webhookStates } from "../../../domain/webhooks/webhook.ts";
import { exampleTime } from "../../api/contract/examples.ts";
import {
  choice,
  count,
  flag,
  int64,
  integer,
  listOf,
  named,
  orNull,
  requestObject,
  responseObject,
  type Schema,
  seq,
  text,
  textOrNull,
  time,
  timeOrNull,
} from "../../api/contract/schema.ts";
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

const listOrNull = (description: string, items: Schema): Schema => ({
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
const below = orNull(
  integer(1, quantityMax, "Only changes in which the quantity fell below this number."),
);
const becomesLow = flag(
  `Whether only changes are sent by which an entry became low. ${lowStockRule} The threshold counts that the entry has when the change is read for delivery.`,
);

const firstRow = (description: string) => integer(1, quantityMax, description);

const fields = {
  id: text("The ID of the webhook."),
  name: text("The name of the webhook, for operators."),
  url: text("The address that receives the changes."),
  state: choice(
    webhookStates,
    "`paused`: by an operator, or because every attempt failed for days. `disabled`: the receiver returned 410.",
  ),
  stateReason: textOrNull("Why it is not active. Null while it is."),
  createdAt: time("When it was created."),
  filter: named("WebhookFilter", "Which changes it receives."),
  cursor: seq("The last ledger row that was delivered, or that the filter excluded."),
  behind: count("How many ledger rows come after the cursor."),
  failures: count("Attempts that failed since the last success."),
  failingSince: timeOrNull("When the first of these attempts failed."),
  nextAttemptAt: timeOrNull("When the next attempt is made. Null if none is scheduled."),
  oldSecretUntil: timeOrNull("Until when messages are also signed with the previous secret."),
} satisfies Record<string, Schema>;

/** The fields of a webhook in the order of responses. */
export const webhookNames = Object.keys(fields) as (keyof typeof fields)[];

const withSecret = {
  ...fields,
  secret: text("The secret that signs the messages. It is shown only in this response."),
};

export const webhookSchemas: Readonly<Record<string, Schema>> = {
  WebhookFilter: responseObject(
    "Which changes a webhook receives. A change must match every field that is not null or false.",
    {
      pets: listOrNull("Only changes of these pets.", int64("The ID of a pet.")),
      statuses,
      causes: causesWanted,
      below,
      becomesLow,
    },
    exampleFilter,
  ),
  Webhook: responseObject("An address that changes are sent to.", fields, exampleWebhook),
  WebhookAttempt: responseObject(
    "One attempt to deliver a message.",
    {
      at: time("When it was made."),
      messageId: text("The ID of the message."),
      firstSeq: seq("The first change in the message, or 0 for a test message."),
      lastSeq: seq("The last change in the message, or 0 for a test message."),
      changes: count("How many changes the message has. A test message has none."),
      durationMs: { type: "number", description: "How long the attempt took, in milliseconds." },
      status: orNull(integer(100, 999, "The HTTP status. Null if no response arrived.")),
      error: textOrNull("Why no response arrived. Null if one did."),
      answer: text("The beginning of the response body."),
    },
    exampleAttempt,
  ),
  WebhookWithAttempts: responseObject(
    "A webhook and its last attempts.",
    { ...fields, attempts: listOf("WebhookAttempt", "The last attempts, the newest first.") },
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
      isResolved: flag("False if the host of the URL does not resolve at the moment."),
    },
    { ...exampleWebhook, secret: exampleSecret, isResolved: true },
  ),
  NewWebhook: requestObject(
    "A webhook to create. Fields that are null count as not given.",
    {
      url: {
        ...text("The address that receives the changes. It must use https and be public."),
        format: "uri",
        maxLength: urlCharactersMax,
      },
      name: {
        ...textOrNull("The name of the webhook, for operators. By default, the host of the URL."),
        minLength: 1,
        maxLength: nameCharactersMax,
      },
      pets: {
        ...listOrNull(
          "Only changes of these pets. An ID can be a string, to keep all its digits.",
          { anyOf: [int64("The ID of a pet."), { type: "string", pattern: `^${int64Pattern}$` }] },
        ),
        minItems: 1,
        maxItems: petsMax,
      },
      statuses: { ...statuses, minItems: 1 },
      causes: { ...causesWanted, minItems: 1 },
      below,
      becomesLow: orNull(becomesLow),
      from: orNull(
        firstRow("The ledger row of the first change to deliver. By default, the next one."),
      ),
    },
    { url: exampleWebhook.url, name: "Reorders", below: 5 },
    ["url"],
  ),
  Replay: requestObject(
    "Where to start.",
    { from: firstRow("The ledger row of the first change to deliver.") },
    { from: 1200 },
    ["from"],
  ),
  SecretRotation: requestObject(
    "How to rotate the secret of a webhook.",
    { overlapSeconds: overlap("How long messages are also signed with the previous secret.") },
    { overlapSeconds: 3_600 },
  ),
};
