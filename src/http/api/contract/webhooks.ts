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

const headers = {
  "webhook-id": "The ID of the message. The same in every attempt.",
  "webhook-timestamp": "The time of the attempt, in Unix seconds.",
  "webhook-signature": "Signatures of Standard Webhooks, separated by spaces.",
};
const parameters = Object.entries(headers).map(([name, description]) => ({
  ...{ name, in: "header", required: true, description, schema: { type: "string" } },
}));

function webhook(operationId: string, summary: string, schema: string) {
  const description = "Verify the signature over the body as received, before you read it.";
  const content = { "application/json": { schema: reference("schemas", schema) } };
  const responses = { "2XX": { description: "Confirmed. Otherwise, changes are sent again." } };
  const requestBody = { required: true, content };
  const told = { operationId, summary, description };
  return { post: { ...told, security: [], parameters, requestBody, responses } };
}

export const webhooks = {
  "inventory.changed": webhook("inventoryChanged", "Stock has changed", "InventoryChanged"),
  test: webhook("webhookTest", "An operator sends a test", "WebhookTest"),
};
