import { fixedForOperators } from "../../../domain/keys/terms.ts";
import type { Parameter } from "../../api/contract/operation.ts";
import { reference } from "../../api/contract/schema.ts";
import { keyIdPattern } from "../../api/parameters.ts";
import { jsonTypes, mergePatchTypes } from "../../messages/body.ts";
import { keyNotFound, kindRule } from "../keys.ts";
import { overlapRule } from "../overlaps.ts";
import { bodyErrors, bodyMessages, mediaMessages } from "./body-errors.ts";
import { exampleKeyId } from "./examples.ts";
import { exampleKey, exampleKeyText, exampleNewKey } from "./key-schemas.ts";
import type { AdminContract } from "./operation.ts";

const keyIdParameter: Parameter = {
  name: "keyId",
  in: "path",
  description: "The ID of the key.",
  schema: { type: "string", pattern: keyIdPattern },
  example: exampleKeyId,
};

const tag = "Keys";
const notFound = { not_found: { not_found: keyNotFound } };
const one = {
  schema: reference("schemas", "Key"),
  examples: { key: { summary: "A key", value: exampleKey } },
};
const revokedMessage = `Key ${exampleKeyId} is revoked; issue a new one.`;

export const listKeys: AdminContract = {
  tag,
  summary: "List the keys",
  description: "Returns all keys, the oldest first. Revoked and expired keys are kept.",
  success: {
    200: {
      description: "All keys.",
      schema: { type: "array", items: reference("schemas", "Key") },
      examples: { keys: { summary: "One key", value: [exampleKey] } },
    },
  },
  errors: [],
};

export const createKey: AdminContract = {
  tag,
  summary: "Create a key",
  description:
    "Creates an API key or an operator key. The response contains the text of the key, which is shown only once: the service keeps a digest.",
  body: {
    description: "The terms of the key.",
    schema: reference("schemas", "NewKey"),
    examples: {
      api: { summary: "An API key", value: exampleNewKey },
      operator: { summary: "An operator key", value: { name: "Ada", kind: "operator" } },
    },
  },
  success: {
    201: {
      description: "The new key.",
      schema: reference("schemas", "IssuedKey"),
      examples: {
        key: { summary: "A new key", value: { ...exampleKey, key: exampleKeyText } },
      },
    },
  },
  errors: bodyErrors,
  messages: {
    invalid_request: {
      ...bodyMessages,
      invalid_kind: `Field 'kind' ${kindRule}.`,
      fixed_for_operators: `Field 'plan' ${fixedForOperators}.`,
    },
    ...mediaMessages(jsonTypes),
  },
};

export const getKey: AdminContract = {
  tag,
  summary: "Get a key",
  description: "Returns one key with its current use.",
  parameters: [keyIdParameter],
  success: { 200: { description: "The key.", ...one } },
  errors: ["not_found"],
  messages: notFound,
};

export const changeKey: AdminContract = {
  tag,
  summary: "Change a key",
  description:
    "Changes the given fields of a key. They take effect with its next request. A revoked key cannot be changed.",
  parameters: [keyIdParameter],
  body: {
    description: "The fields to change.",
    schema: reference("schemas", "KeyChange"),
    examples: {
      plan: { summary: "Another plan", value: { plan: "pro" } },
      expiry: { summary: "An end", value: { expiresAt: "2027-01-31T00:00:00Z" } },
    },
  },
  success: { 200: { description: "The changed key.", ...one } },
  errors: [...bodyErrors, "not_found"],
  messages: {
    invalid_request: {
      ...bodyMessages,
      fixed_for_operators: `Field 'plan' ${fixedForOperators}.`,
      revoked: revokedMessage,
    },
    ...mediaMessages(mergePatchTypes),
    ...notFound,
  },
};

export const rotateKey: AdminContract = {
  tag,
  summary: "Rotate a key",
  description:
    "Adds a new text to a key. The earlier text stays valid for a time, so that clients can change over. Sessions that were started with the earlier text end with it.",
  parameters: [keyIdParameter],
  body: {
    description: "How long the earlier text stays valid. 24 hours without a body.",
    isOptional: true,
    schema: reference("schemas", "KeyRotation"),
    examples: { at_once: { summary: "Without an overlap", value: { overlapSeconds: 0 } } },
  },
  success: {
    200: {
      description: "The key with its new text.",
      schema: reference("schemas", "RotatedKey"),
      examples: {
        key: {
          summary: "A new text",
          value: { ...exampleKey, key: exampleKeyText, oldValidUntil: "2026-11-17T08:00:00.000Z" },
        },
      },
    },
  },
  errors: [...bodyErrors, "not_found"],
  messages: {
    invalid_request: {
      ...bodyMessages,
      invalid_overlap: `Field 'overlapSeconds' ${overlapRule}.`,
      revoked: revokedMessage,
    },
    ...mediaMessages(jsonTypes),
    ...notFound,
  },
};

export const revokeKey: AdminContract = {
  tag,
  summary: "Revoke a key",
  description:
    "Ends a key for good. Its next request gets 401, and its sessions end. A key that is already revoked keeps the time of its first revocation.",
  parameters: [keyIdParameter],
  success: { 200: { description: "The revoked key.", ...one } },
  errors: ["not_found"],
  messages: notFound,
};

export const liftBan: AdminContract = {
  tag,
  summary: "Lift a ban",
  description: "Ends the ban of a key. Also succeeds if no ban is in force.",
  parameters: [keyIdParameter],
  success: { 200: { description: "The key.", ...one } },
  errors: ["not_found"],
  messages: notFound,
};
