import { InvalidField, ServiceError, unavailableMessages } from "../../domain/running/errors.ts";
import { inOrder, JsonNumber } from "../../domain/values/json.ts";
import * as lifecycle from "../../domain/webhooks/lifecycle.ts";
import { refusals } from "../../domain/webhooks/requested-messages.ts";
import { attemptJson, webhookJson } from "../../domain/webhooks/webhook-json.ts";
import { type Contract, json, jsonList } from "../api/contract/contract.ts";
import { jsonBody } from "../api/declaration.ts";
import { type Fields, textOf } from "../messages/fields.ts";
import { ok, type Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import { type AdminDeclaration, byOperator } from "./admin-declaration.ts";
import { exampleId, exampleMessageId, webhookNames } from "./contract/webhook-schemas.ts";
import {
  fieldReader,
  flagField,
  integerField,
  overlapRule,
  readOverlapMs,
  textField,
  textListField,
  withoutNulls,
} from "./fields.ts";

const webhookId = {
  name: "webhookId",
  in: "path",
  description: "The ID of the webhook.",
  schema: { type: "string" },
  example: exampleId,
} as const;

const notFound = { not_found: { not_found: `There is no webhook ${exampleId}.` } };

/** An operation that changes the state of a webhook and returns it. */
function change(summary: string, description: string): Contract {
  return {
    summary,
    description,
    parameters: [webhookId],
    success: { 200: json("The webhook.", "Webhook") },
    messages: { ...notFound, unavailable: { busy: unavailableMessages.busy } },
  };
}

const petsRule = "must be an array of ids of pets, which are 64-bit integers";

const urlRequired = "is required";

const listWebhooks: AdminDeclaration = {
  method: "GET",
  path: "/webhooks",
  contract: {
    summary: "List webhooks",
    description: "Returns all webhooks. A store has at most 100.",
    success: { 200: jsonList("The webhooks.", "Webhook") },
  },
  handle: async ({ store }) => ok((await lifecycle.listWebhooks(store)).map(webhookOf)),
};

const createWebhook: AdminDeclaration = {
  method: "POST",
  path: "/webhooks",
  body: jsonBody,
  kind: "making",
  contract: {
    summary: "Create a webhook",
    description:
      "Creates a webhook. Its secret is shown only in this response. The address must use https and resolve to public addresses, unless the service is configured differently.",
    body: json("The webhook.", "NewWebhook"),
    success: { 201: json("The new webhook.", "CreatedWebhook") },
    messages: { invalid_request: { invalid_url: "Field 'url' must be https://HOST/…." } },
  },
  async run(context, call, sent) {
    const { store, admin } = context;
    const url = textField(sent, "url");
    if (url === undefined) throw new InvalidField("url", urlRequired);
    const fields = withoutNulls(sent);
    const terms = {
      url,
      name: textField(fields, "name"),
      pets: petsField(fields, "pets"),
      statuses: textListField(fields, "statuses"),
      causes: textListField(fields, "causes"),
      below: integerField(fields, "below"),
      becomesLow: flagField(fields, "becomesLow"),
      from: integerField(fields, "from"),
    };
    const { webhook, secret, isResolved } = await lifecycle.createWebhook(
      store,
      admin.webhookUrls,
      terms,
      byOperator(call, context),
    );
    const created = webhookOf(await lifecycle.getWebhookStatus(store, webhook.id));
    return { status: 201, body: JSON.stringify({ ...created, secret, isResolved }) };
  },
};

const getWebhook: AdminDeclaration = {
  method: "GET",
  path: "/webhooks/{webhookId}",
  contract: {
    summary: "Get a webhook",
    description: "Returns a webhook and its last 50 attempts.",
    parameters: [webhookId],
    success: { 200: json("The webhook.", "WebhookWithAttempts") },
    messages: notFound,
  },
  async handle({ store }, { request }) {
    const status = await lifecycle.getWebhookStatus(store, idOf(request.params));
    return ok({ ...webhookOf(status), attempts: status.attempts.map(attemptJson) });
  },
};

const removeWebhook: AdminDeclaration = {
  method: "DELETE",
  path: "/webhooks/{webhookId}",
  kind: "repeatable",
  contract: {
    summary: "Delete a webhook",
    description: "Deletes a webhook, its secrets and its delivery log.",
    parameters: [webhookId],
    success: { 204: { description: "The webhook is deleted." } },
    messages: notFound,
  },
  async run(context, call, fields) {
    await lifecycle.deleteWebhook(context.store, idOf(fields), byOperator(call, context));
    return { status: 204, body: null };
  },
};

/** An operation that pauses or resumes a webhook. */
function switching(
  path: string,
  set: typeof lifecycle.pauseWebhook,
  ...texts: [string, string]
): AdminDeclaration {
  return {
    method: "POST",
    path: `/webhooks/{webhookId}${path}`,
    kind: "repeatable",
    contract: change(...texts),
    async run(context, call, fields) {
      await set(context.store, idOf(fields), byOperator(call, context));
      return current(context, fields);
    },
  };
}

const pauseWebhook = switching(
  "/pause",
  lifecycle.pauseWebhook,
  "Pause a webhook",
  "Stops the deliveries. An attempt that is under way is completed. A webhook that is already paused or disabled does not change.",
);

const resumeWebhook = switching(
  "/resume",
  lifecycle.resumeWebhook,
  "Resume a webhook",
  "Continues after the last change that was delivered. If the webhook is failing, the next attempt is made at once.",
);

const replayWebhook: AdminDeclaration = {
  method: "POST",
  path: "/webhooks/{webhookId}/replay",
  body: jsonBody,
  kind: "making",
  contract: {
    ...change(
      "Replay changes",
      "Delivers all changes from a ledger row on, with new message IDs. A webhook that is paused or disabled stays so.",
    ),
    body: json("Where to start.", "Replay"),
    messages: {
      ...notFound,
      invalid_request: {
        invalid_from:
          "Field 'from' must be the number of a change, from 1 to 1208 (the next change).",
      },
    },
  },
  async run(context, call, fields) {
    const from = integerField(fields, "from");
    if (from === undefined) throw new InvalidField("from", "is required");
    await lifecycle.replayWebhook(context.store, idOf(fields), from, byOperator(call, context));
    return current(context, fields);
  },
};

const rotateWebhookSecret: AdminDeclaration = {
  method: "POST",
  path: "/webhooks/{webhookId}/rotate",
  body: jsonBody,
  kind: "making",
  contract: {
    ...change(
      "Rotate the secret of a webhook",
      "Issues a new secret for a webhook. It is shown only in this response. During the overlap, messages are signed with both secrets.",
    ),
    body: json("The overlap. Without a body, 24 hours.", "SecretRotation", { isOptional: true }),
    success: { 200: json("The webhook.", "WebhookWithSecret") },
    messages: {
      ...notFound,
      invalid_request: { invalid_overlap: `Field 'overlapSeconds' ${overlapRule}.` },
    },
  },
  async run(context, call, fields) {
    const { store } = context;
    const [id, overlapMs] = [idOf(fields), readOverlapMs(fields)];
    const by = byOperator(call, context);
    const { secret } = await lifecycle.rotateSecret(store, id, by, overlapMs);
    return ok({ ...webhookOf(await lifecycle.getWebhookStatus(store, id)), secret });
  },
};

/** An operation that sends a test message, or the message in the path again. */
function sending(
  path: string,
  { description, parameters = [], messages, ...contract }: Omit<Contract, "success">,
): AdminDeclaration {
  return {
    method: "POST",
    path: `/webhooks/{webhookId}${path}`,
    // A receiver has longer to respond than a silent connection stays open.
    isLong: true,
    kind: "making",
    isOutside: true,
    contract: {
      ...contract,
      description: `${description} Returns the attempt, which is also in the log, when the receiver has responded or its time is over. The position, the state and the retries of the webhook do not change. The rules for addresses are those of all messages.`,
      parameters: [webhookId, ...parameters],
      success: { 200: json("The attempt, successful or not.", "WebhookAttempt") },
      messages: { ...messages, already_running: { already_running: refusals.beingSent } },
    },
    async run(context, call, fields) {
      const by = byOperator(call, context);
      const { sendMessage } = context.admin;
      const [id, message] = [idOf(fields), textOf(fields, "messageId")];
      return ok(attemptJson(await sendMessage(id, message, by, call.request.signal)));
    },
  };
}

const testWebhook = sending("/test", {
  summary: "Send a test message",
  description:
    "Sends a signed message of the type `test`, without changes, also if the webhook is paused or disabled.",
  messages: notFound,
});

const messageId = { ...webhookId, name: "messageId", example: exampleMessageId };
const resendWebhookMessage = sending("/messages/{messageId}/resend", {
  summary: "Send a message again",
  description:
    "Sends a message of the log again, with the same ID and a new signature. It is made from the ledger once more.",
  parameters: [{ ...messageId, description: "The ID of the message, from an attempt." }],
  messages: {
    invalid_request: { test_message: refusals.isTest },
    not_found: { not_in_log: refusals.notInLog, is_changed: refusals.isChanged },
  },
});

function idOf(fields: Fields = {}): string {
  const id = textOf(fields, "webhookId") ?? "";
  // The store would reject a text with NUL, which no id has.
  if (/^wh_[0-9A-Za-z]{1,64}$/.test(id)) return id;
  throw new ServiceError("not_found", "There is no webhook with this id.");
}

async function current({ store }: Context, fields: Fields): Promise<Reply> {
  return ok(webhookOf(await lifecycle.getWebhookStatus(store, idOf(fields))));
}

/** Ids of pets are integers in JSON, and may be strings for clients that cannot write 64 bits. */
const petsField = fieldReader(petsRule, (value) => {
  if (!Array.isArray(value)) return undefined;
  const ids = value.map((one) => (one instanceof JsonNumber ? one.toInteger() : one));
  const isId = (id: unknown) =>
    typeof id === "bigint" || (typeof id === "string" && id !== "fraction" && id !== "huge");
  return ids.every(isId) ? ids.map(String) : undefined;
});

function webhookOf(status: Pick<lifecycle.WebhookStatus, "webhook" | "behind">) {
  return inOrder({ ...webhookJson(status), cursor: status.webhook.cursor.seq }, webhookNames);
}

export const webhookOperations = {
  listWebhooks,
  createWebhook,
  getWebhook,
  removeWebhook,
  pauseWebhook,
  resumeWebhook,
  replayWebhook,
  rotateWebhookSecret,
  testWebhook,
  resendWebhookMessage,
};
