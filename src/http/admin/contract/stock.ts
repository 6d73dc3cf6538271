import { outOfRangeMessage } from "../../../domain/ledger/changes.ts";
import { petNotFound } from "../../../domain/ledger/inventory.ts";
import { keyReused } from "../../../domain/shop/shop.ts";
import { oneAmountRule, statusRule } from "../../api/change-list.ts";
import { reference } from "../../api/contract/schema.ts";
import * as apiHistory from "../../api/history.ts";
import { idempotencyKeyParameter, idempotencyKeyRule } from "../../api/idempotency.ts";
import { petIdParameter, petIdRule } from "../../api/parameters.ts";
import { mergePatchTypes } from "../../messages/body.ts";
import { bodyErrors, bodyMessages, mediaMessages } from "./body-errors.ts";
import { exampleConflict } from "./changes.ts";
import type { AdminContract } from "./operation.ts";
import { sharedContract } from "./shared.ts";
import { exampleStock, exampleVersioned } from "./stock-schemas.ts";

const change = { petId: 7n, kind: "add", amount: -20, reason: null } as const;
const rejected = {
  kind: "rejected",
  reason: "out_of_range",
  index: 0,
  current: { petId: 7n, quantity: 12, status: "available", version: 1207 },
  epoch: undefined,
} as const;

export const listStock: AdminContract = {
  tag: "Stock",
  summary: "List the stock",
  description: `Returns the stock of all pets with their names. It includes every change that was confirmed before the request.

To keep a copy up to date, follow the feed (\`GET /changes\` with \`Accept: text/event-stream\`) after the \`cursor\`. It may repeat changes that the list already contains, and misses none.

The response is streamed, and compressed if the client accepts that. If the service fails in between, it closes the connection, and the JSON text is incomplete.`,
  success: {
    200: {
      description: "The stock.",
      headers: ["Vary", "Content-Encoding"],
      schema: reference("schemas", "StockList"),
      examples: {
        stock: { summary: "One pet", value: exampleStock },
        empty: { summary: "No pets", value: { ...exampleStock, entries: [] } },
      },
    },
  },
  errors: [],
};

export const updateStock: AdminContract = {
  tag: "Stock",
  summary: "Change the stock of a pet",
  description:
    "Changes the quantity, the status or both of one pet. The response is sent after the change is stored durably. If the entry does not have the `expectedVersion`, nothing is changed, and the message says what is stored now and who changed it.",
  parameters: [petIdParameter, idempotencyKeyParameter],
  body: {
    description: "The change.",
    schema: reference("schemas", "StockUpdate"),
    examples: {
      count: {
        summary: "A count with a condition",
        value: { quantity: 12, expectedVersion: 1207, reason: "Stocktake" },
      },
      sold: { summary: "A new status", value: { status: "sold" } },
    },
  },
  success: {
    200: {
      description: "The entry after the change.",
      headers: ["Idempotent-Replayed"],
      schema: reference("schemas", "VersionedItem"),
      examples: { entry: { summary: "The new count", value: exampleVersioned } },
    },
  },
  errors: [
    ...bodyErrors,
    "not_found",
    "insufficient_stock",
    "version_conflict",
    "idempotency_key_reused",
  ],
  messages: {
    invalid_request: {
      ...bodyMessages,
      invalid_petId: petIdRule,
      one_amount: oneAmountRule,
      invalid_status: statusRule,
      invalid_idempotency_key: idempotencyKeyRule,
    },
    ...mediaMessages(mergePatchTypes),
    not_found: { not_found: petNotFound },
    insufficient_stock: { insufficient_stock: outOfRangeMessage(change, rejected) },
    version_conflict: { version_conflict: exampleConflict },
    idempotency_key_reused: { idempotency_key_reused: keyReused },
  },
};

export const listStockHistory: AdminContract = {
  ...sharedContract(apiHistory.listHistory.contract, "Stock"),
  messages: { ...apiHistory.listHistory.contract.messages, not_found: { not_found: petNotFound } },
};
