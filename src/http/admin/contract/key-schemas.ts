import { roleScopes, roles, scopes } from "../../../domain/keys/keys.ts";
import { planNames } from "../../../domain/limits/plans.ts";
import { nameCharactersMax } from "../../../domain/values/texts.ts";
import { exampleKeyId, exampleTime } from "../../api/contract/examples.ts";
import {
  choice,
  count,
  integer,
  listOf,
  named,
  requestObject,
  responseObject,
  type Schema,
  text,
  time,
  timeOrNull,
} from "../../api/contract/schema.ts";
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
  id: text("The ID of the key."),
  name: text("The name of the key."),
  kind: choice(kinds, "`api` for clients of the store, `operator` for this API."),
  role: {
    anyOf: [{ type: "string", enum: roles }, { type: "null" }],
    description: "The role of an operator key, or null for an API key.",
  },
  plan: {
    anyOf: [{ type: "string", enum: planNames }, { type: "null" }],
    description: "The plan of the key, or null for an operator key.",
  },
  limits: named("KeyLimits", "The limits of the key."),
  scopes: {
    type: "array",
    items: { type: "string", enum: [...scopes, ...Object.values(roleScopes)] },
    description: "What the key can do.",
  },
  state: choice(
    ["active", "banned", "expired", "revoked"],
    "`active` if the key is accepted. Otherwise, why it is not.",
  ),
  createdAt: time("When the key was created."),
  expiresAt: timeOrNull("When the key expires, or null for never."),
  revokedAt: timeOrNull("When the key was revoked, or null."),
  lastUsedAt: timeOrNull("When the last request was counted, or null if there was none."),
  bannedUntil: timeOrNull("When the ban ends, or null if there is none."),
  minute: named(
    "KeyUse",
    "The requests in this UTC minute. With several instances, the latest requests to the others can be missing.",
  ),
  day: named("KeyUse", "The requests in this UTC day."),
  secrets: listOf(
    "KeySecret",
    "The secrets of the key that are accepted, the oldest first. During a rotation, there are several.",
  ),
} satisfies Record<string, Schema>;

/** The fields of a key in the order of responses. */
export const keyNames = Object.keys(keyFields) as (keyof typeof keyFields)[];

const shownOnce = text("The secret of the key. It is shown only in this response.");

const agreedLimit = (window: string) =>
  integer(
    1,
    999_999_999_999,
    `Requests per ${window}. Only for the plan \`enterprise\`, which requires it.`,
  );

/** What a request can say about a key. Only `expiresAt` can be null. */
const terms: Readonly<Record<string, Schema>> = {
  name: {
    type: "string",
    minLength: 1,
    maxLength: nameCharactersMax,
    description: "The name of the key, for operators.",
  },
  plan: choice(planNames, "The plan. Not for operator keys."),
  perMinute: agreedLimit("minute"),
  perDay: agreedLimit("day"),
  scopes: {
    type: "array",
    items: { type: "string", enum: scopes },
    minItems: 1,
    description:
      "What the key can do. By default, a new key has all scopes. Not for operator keys.",
  },
  expiresAt: timeOrNull("When the key expires. Null for never."),
  role: choice(roles, "Only for operator keys. A new one without a role is an owner's."),
};

/** How long the old secret of a key or a webhook stays valid after a rotation. */
export const overlap = (description: string): Schema => ({
  ...integer(0, overlapSecondsMax, description),
  default: 86_400,
});

export const exampleNewKey = { name: "Warehouse", plan: "business" };

export const keySchemas: Readonly<Record<string, Schema>> = {
  KeyLimits: responseObject(
    "How many requests a key can send.",
    { perMinute: count("Requests per minute."), perDay: count("Requests per day.") },
    exampleKey.limits,
  ),
  KeyUse: responseObject(
    "How much of a limit is used.",
    {
      used: count("Requests that were counted."),
      limit: count("The limit. After a change to a smaller plan, `used` can be larger."),
      resetsAt: time("When the count starts again."),
    },
    exampleUse,
  ),
  KeySecret: responseObject(
    "One secret of a key. The secret itself is not stored.",
    {
      createdAt: time("When it was created."),
      expiresAt: timeOrNull("When it expires, or null if it does not."),
    },
    exampleSecret,
  ),
  Key: responseObject("A key in its current state.", keyFields, exampleKey),
  IssuedKey: responseObject(
    "A new key with its secret.",
    { ...keyFields, key: shownOnce },
    { ...exampleKey, key: exampleKeyText },
  ),
  RotatedKey: responseObject(
    "A key with its new secret.",
    { ...keyFields, key: shownOnce, oldValidUntil: time("When the old secret expires.") },
    { ...exampleKey, key: exampleKeyText, oldValidUntil: "2026-11-17T08:00:00.000Z" },
  ),
  NewKey: requestObject(
    "A key to create.",
    {
      ...terms,
      kind: {
        ...choice(kinds, "`api` for clients of the store, which requires `plan`, or `operator`."),
        default: "api",
      },
    },
    exampleNewKey,
    ["name"],
  ),
  KeyChange: requestObject("The fields to change. Other fields stay as they are.", terms, {
    plan: "pro",
  }),
  KeyRotation: requestObject(
    "How to rotate a key.",
    { overlapSeconds: overlap("How long the old secret is still accepted.") },
    { overlapSeconds: 3_600 },
  ),
};
