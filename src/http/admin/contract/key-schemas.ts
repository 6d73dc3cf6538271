import { roleScopes, roles, scopes } from "../../../domain/keys/keys.ts";
import { limitMax, planNames } from "../../../domain/limits/plans.ts";
import { nameCharactersMax } from "../../../domain/values/texts.ts";
import { exampleKeyId, exampleTime } from "../../api/contract/examples.ts";
import * as schema from "../../api/contract/schema.ts";
import { overlapSecondsMax } from "../fields.ts";

const exampleUse = { used: 42, limit: 1000, resetsAt: "2026-11-16T08:01:00.000Z" };
const exampleSecret = { createdAt: "2026-11-01T09:30:00.000Z", expiresAt: null };

const exampleKey = {
  id: exampleKeyId,
  name: "Warehouse",
  kind: "api",
  role: null,
  plan: "business",
  limits: { perMinute: 1000, perDay: 100000 },
  scopes: ["inventory:read", "inventory:write"],
  state: "active",
  createdAt: "2026-11-01T09:30:00.000Z",
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: exampleTime,
  bannedUntil: null,
  minute: exampleUse,
  day: { used: 690, limit: 100000, resetsAt: "2026-11-17T00:00:00.000Z" },
  secrets: [exampleSecret],
};

const exampleKeyText = "psk_live_0000000000000000000000000000000000000000000000000";

const kinds = ["api", "operator"];

const keyFields = {
  id: schema.text("The ID of the key."),
  name: schema.text("The name of the key."),
  kind: schema.choice(kinds, "`api` for clients of the store, `operator` for this API."),
  role: {
    anyOf: [{ type: "string", enum: roles }, { type: "null" }],
    description: "The role of an operator key, or null for an API key.",
  },
  plan: {
    anyOf: [{ type: "string", enum: planNames }, { type: "null" }],
    description: "The plan of the key, or null for an operator key.",
  },
  limits: schema.named("KeyLimits", "The limits of the key."),
  scopes: {
    type: "array",
    items: { type: "string", enum: [...scopes, ...Object.values(roleScopes)] },
    description: "What the key can do.",
  },
  state: schema.choice(
    ["active", "banned", "expired", "revoked"],
    "`active` if the key is accepted. Otherwise, why it is not.",
  ),
  createdAt: schema.time("When the key was created."),
  expiresAt: schema.timeOrNull("When the key expires, or null for never."),
  revokedAt: schema.timeOrNull("When the key was revoked, or null."),
  lastUsedAt: schema.timeOrNull("When the last request was counted, or null if there was none."),
  bannedUntil: schema.timeOrNull("When the ban ends, or null if there is none."),
  minute: schema.named(
    "KeyUse",
    "The requests in this UTC minute. With several instances, the latest requests to the others can be missing.",
  ),
  day: schema.named("KeyUse", "The requests in this UTC day."),
  secrets: schema.listOf(
    "KeySecret",
    "The secrets of the key that are accepted, the oldest first. During a rotation, there are several.",
  ),
} satisfies Record<string, schema.Schema>;

/** The fields of a key in the order of responses. */
export const keyNames = Object.keys(keyFields) as (keyof typeof keyFields)[];

const shownOnce = schema.text("The secret of the key. It is shown only in this response.");

const agreedLimit = (window: string) =>
  schema.integer(
    1,
    limitMax,
    `Requests per ${window}. Only for the plan \`enterprise\`, which requires it.`,
  );

/** What a request can say about a key. Only `expiresAt` can be null. */
const terms: Readonly<Record<string, schema.Schema>> = {
  name: {
    type: "string",
    minLength: 1,
    maxLength: nameCharactersMax,
    description: "The name of the key, for operators.",
  },
  plan: schema.choice(planNames, "The plan. Not for operator keys."),
  perMinute: agreedLimit("minute"),
  perDay: agreedLimit("day"),
  scopes: {
    type: "array",
    items: { type: "string", enum: scopes },
    minItems: 1,
    description:
      "What the key can do. By default, a new key has all scopes. Not for operator keys.",
  },
  expiresAt: schema.timeOrNull("When the key expires. Null for never."),
  role: schema.choice(roles, "Only for operator keys. A new one without a role is an owner's."),
};

/** How long the old secret of a key or a webhook stays valid after a rotation. */
export const overlap = (description: string): schema.Schema => ({
  ...schema.integer(0, overlapSecondsMax, description),
  default: 86_400,
});

export const exampleNewKey = { name: "Warehouse", plan: "business" };

export const keySchemas: Readonly<Record<string, schema.Schema>> = {
  KeyLimits: schema.responseObject(
    "How many requests a key can send.",
    {
      perMinute: schema.number("Requests per minute."),
      perDay: schema.number("Requests per day."),
    },
    exampleKey.limits,
  ),
  KeyUse: schema.responseObject(
    "How much of a limit is used.",
    {
      used: schema.number("Requests that were counted."),
      limit: schema.number("The limit. After a change to a smaller plan, `used` can be larger."),
      resetsAt: schema.time("When the count starts again."),
    },
    exampleUse,
  ),
  KeySecret: schema.responseObject(
    "One secret of a key. The secret itself is not stored.",
    {
      createdAt: schema.time("When it was created."),
      expiresAt: schema.timeOrNull("When it expires, or null if it does not."),
    },
    exampleSecret,
  ),
  Key: schema.responseObject("A key in its current state.", keyFields, exampleKey),
  IssuedKey: schema.responseObject(
    "A new key with its secret.",
    { ...keyFields, key: shownOnce },
    { ...exampleKey, key: exampleKeyText },
  ),
  RotatedKey: schema.responseObject(
    "A key with its new secret.",
    { ...keyFields, key: shownOnce, oldValidUntil: schema.time("When the old secret expires.") },
    { ...exampleKey, key: exampleKeyText, oldValidUntil: "2026-11-17T08:00:00.000Z" },
  ),
  NewKey: schema.requestObject(
    "A key to create.",
    {
      ...terms,
      kind: {
        ...schema.choice(
          kinds,
          "`api` for clients of the store, which requires `plan`, or `operator`.",
        ),
        default: "api",
      },
    },
    exampleNewKey,
    ["name"],
  ),
  KeyChange: schema.requestObject("The fields to change. Other fields stay as they are.", terms, {
    plan: "pro",
  }),
  KeyRotation: schema.requestObject(
    "How to rotate a key.",
    { overlapSeconds: overlap("How long the old secret is still accepted.") },
    { overlapSeconds: 3_600 },
  ),
};
