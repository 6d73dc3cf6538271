import { exampleRow } from "./examples.ts";
import { listOf, named, reference, responseObject, type Schema, text, time } from "./schema.ts";

/** The messages of webhooks. docs/webhooks.md explains them. */

const data = (changes: readonly object[]) => ({ changes, cursor: "3f9c2a7d-1207" });

const message = (type: string, description: string, changes: readonly object[]) =>
  responseObject(
    description,
    {
      type: { ...text("The type of the message."), const: type },
      timestamp: time("When the last of the changes was stored, or when the test was sent."),
      data: named("WebhookData", "The content of the message."),
    },
    { type, timestamp: exampleRow.at, data: data(changes) },
  );

export const webhookSchemas: Readonly<Record<string, Schema>> = {
  InventoryChanged: message("inventory.changed", "Changes that were stored.", [exampleRow]),
  WebhookTest: message("test", "A test that an operator sent. It has no changes.", []),
  WebhookData: responseObject(
    "The content of a message.",
    {
      changes: listOf("LedgerRow", "In ascending order of `seq`. A change can come again."),
      cursor: text("The position of the last change. The feed accepts it as `after`."),
    },
    data([exampleRow]),
  ),
};

const header = (name: string, description: string, example: string) => ({
  ...{ name, in: "header", required: true, description, example },
  schema: { type: "string" },
});

const webhook = (operationId: string, name: string, summary: string) => ({
  post: {
    ...{ operationId, summary, security: [] },
    description: "Verify the signature over the body as received, with the secret of the webhook.",
    parameters: [
      header("webhook-id", "The ID of the message. The same in every attempt.", "msg_0aBcDeFgHiJk"),
      header("webhook-timestamp", "The time of the attempt, in Unix seconds.", "1794736931"),
      header("webhook-signature", "Signatures of Standard Webhooks.", "v1,K5oZfzN95Z9UVu1EsfQ="),
    ],
    requestBody: {
      required: true,
      content: { "application/json": { schema: reference("schemas", name) } },
    },
    responses: {
      "2XX": { description: "Confirmed. After any other response, the message is sent again." },
      410: { description: "The webhook is disabled." },
    },
  },
});

export const webhooks = {
  "inventory.changed": webhook("inventoryChanged", "InventoryChanged", "Stock has changed"),
  test: webhook("webhookTest", "WebhookTest", "A test message"),
};
