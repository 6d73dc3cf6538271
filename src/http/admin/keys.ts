import { keyJson } from "../../domain/keys/key-json.ts";
import type { KeyStatus } from "../../domain/keys/lifecycle.ts";
import * as lifecycle from "../../domain/keys/lifecycle.ts";
import { fixedForOperators, type KeyChange, rejectFixedTerms } from "../../domain/keys/terms.ts";
import { dayMs, minuteMs } from "../../domain/limits/limits.ts";
import { InvalidField, ServiceError } from "../../domain/running/errors.ts";
import { inOrder } from "../../domain/values/json.ts";
import { isoOrNull } from "../../domain/values/times.ts";
import { exampleKeyId } from "../api/contract/examples.ts";
import type { Parameter } from "../api/contract/operation.ts";
import { reference } from "../api/contract/schema.ts";
import { jsonBody, mergePatchBody } from "../api/operation.ts";
import { keyIdPattern } from "../api/parameters.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { exampleNewKey } from "./contract/key-schemas.ts";
import {
  bodyMessages,
  type Fields,
  integerField,
  overlapRule,
  readFields,
  readOptionalFields,
  readOverlapMs,
  textField,
  textListField,
  timeField,
} from "./fields.ts";
import { type AdminDeclaration, actorOf } from "./operation.ts";

const keyIdParameter: Parameter = {
  name: "keyId",
  in: "path",
  description: "The ID of the key.",
  schema: { type: "string", pattern: keyIdPattern },
  example: exampleKeyId,
};

const tag = "Keys";

export const keyNotFound = "There is no key with this id.";
const notFound = { not_found: { not_found: keyNotFound } };

const one = { schema: reference("schemas", "Key") };

const revokedMessage = `Key ${exampleKeyId} is revoked; issue a new one.`;

const keyId = new RegExp(keyIdPattern);

const kindRule = "must be api or operator";

const listKeys: AdminDeclaration = {
  method: "GET",
  path: "/keys",
  contract: {
    tag,
    summary: "List the keys",
    description: "Returns all keys, the oldest first. Revoked and expired keys are kept.",
    success: {
      200: {
        description: "All keys.",
        schema: { type: "array", items: reference("schemas", "Key") },
      },
    },
  },
  async handle({ store, clock, admin }) {
    const now = clock.now();
    const statuses = await lifecycle.listKeyStatuses(store, now, admin.findUsage);
    return { status: 200, body: JSON.stringify(statuses.map((one) => describeKey(one, now))) };
  },
};

const createKey: AdminDeclaration = {
  method: "POST",
  path: "/keys",
  body: jsonBody,
  contract: {
    tag,
    summary: "Create a key",
    description:
      "Creates an API key or an operator key. The response contains its secret, which is shown only once: the service keeps only a digest.",
    body: {
      description: "The key to create.",
      schema: reference("schemas", "NewKey"),
      examples: {
        api: { summary: "An API key", value: exampleNewKey },
        operator: { summary: "An operator key", value: { name: "Ada", kind: "operator" } },
      },
    },
    success: { 201: { description: "The new key.", schema: reference("schemas", "IssuedKey") } },
    messages: {
      invalid_request: {
        ...bodyMessages,
        invalid_kind: `Field 'kind' ${kindRule}.`,
        fixed_for_operators: `Field 'plan' ${fixedForOperators}.`,
      },
    },
  },
  async handle(context, call) {
    const { store, clock, admin } = context;
    const fields = await readFields(call);
    const now = clock.now();
    const { environment } = admin.facts;
    const { expiresAt, ...terms } = readTerms(fields);
    const { name = "", plan = "" } = terms;
    const isOperator = readKind(fields) === "operator";
    if (isOperator) rejectFixedTerms(terms);
    const ends = { expiresAt: expiresAt ?? undefined };
    const issued = isOperator
      ? await lifecycle.issueOperatorKey(store, environment, now, { name, ...ends }, actorOf(call))
      : await lifecycle.issueKey(
          store,
          environment,
          now,
          { ...terms, name, plan, ...ends },
          actorOf(call),
        );
    return keyReply(context, 201, issued.key.id, { key: issued.text });
  },
};

const getKey: AdminDeclaration = {
  method: "GET",
  path: "/keys/{keyId}",
  contract: {
    tag,
    summary: "Get a key",
    description: "Returns one key with its current use.",
    parameters: [keyIdParameter],
    success: { 200: { description: "The key.", ...one } },
    errors: ["not_found"],
    messages: notFound,
  },
  async handle(context, call) {
    return keyReply(context, 200, readKeyId(call));
  },
};

/** A request without any known field changes nothing. */
const changeKey: AdminDeclaration = {
  method: "PATCH",
  path: "/keys/{keyId}",
  body: mergePatchBody,
  contract: {
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
        expiry: { summary: "An expiry time", value: { expiresAt: "2027-01-31T00:00:00Z" } },
      },
    },
    success: { 200: { description: "The changed key.", ...one } },
    errors: ["not_found"],
    messages: {
      invalid_request: {
        ...bodyMessages,
        fixed_for_operators: `Field 'plan' ${fixedForOperators}.`,
        revoked: revokedMessage,
      },
      ...notFound,
    },
  },
  async handle(context, call) {
    const { store, clock } = context;
    const id = readKeyId(call);
    const change = readTerms(await readFields(call));
    if (Object.values(change).some((value) => value !== undefined)) {
      await lifecycle.changeKey(store, clock.now(), id, change, actorOf(call));
    }
    return keyReply(context, 200, id);
  },
};

const rotateKey: AdminDeclaration = {
  method: "POST",
  path: "/keys/{keyId}/rotate",
  body: jsonBody,
  contract: {
    tag,
    summary: "Rotate a key",
    description:
      "Issues a new secret for a key. The old secret stays valid for the overlap, so that clients can switch. Sessions that were started with the old secret end with it.",
    parameters: [keyIdParameter],
    body: {
      description: "How long the old secret stays valid. Without a body, 24 hours.",
      isOptional: true,
      schema: reference("schemas", "KeyRotation"),
      examples: { at_once: { summary: "Without an overlap", value: { overlapSeconds: 0 } } },
    },
    success: {
      200: {
        description: "The key with its new secret.",
        schema: reference("schemas", "RotatedKey"),
      },
    },
    errors: ["not_found"],
    messages: {
      invalid_request: {
        ...bodyMessages,
        invalid_overlap: `Field 'overlapSeconds' ${overlapRule}.`,
        revoked: revokedMessage,
      },
      ...notFound,
    },
  },
  async handle(context, call) {
    const { store, clock, admin } = context;
    const id = readKeyId(call);
    const overlapMs = readOverlapMs(await readOptionalFields(call));
    const { environment } = admin.facts;
    const { text, oldValidUntil } = await lifecycle.rotateKey(
      store,
      environment,
      clock.now(),
      id,
      actorOf(call),
      overlapMs,
    );
    return keyReply(context, 200, id, { key: text, oldValidUntil: isoOrNull(oldValidUntil) });
  },
};

const revokeKey: AdminDeclaration = {
  method: "POST",
  path: "/keys/{keyId}/revoke",
  contract: {
    tag,
    summary: "Revoke a key",
    description:
      "Ends a key permanently. Its next request gets 401, and its sessions end. A key that is already revoked keeps the time of its first revocation.",
    parameters: [keyIdParameter],
    success: { 200: { description: "The revoked key.", ...one } },
    errors: ["not_found"],
    messages: notFound,
  },
  async handle(context, call) {
    const id = readKeyId(call);
    await lifecycle.revokeKey(context.store, context.clock.now(), id, actorOf(call));
    return keyReply(context, 200, id);
  },
};

/** Also succeeds if no ban is in force. */
const liftBan: AdminDeclaration = {
  method: "POST",
  path: "/keys/{keyId}/unban",
  contract: {
    tag,
    summary: "Lift a ban",
    description: "Ends the ban of a key. Also succeeds if no ban is in force.",
    parameters: [keyIdParameter],
    success: { 200: { description: "The key.", ...one } },
    errors: ["not_found"],
    messages: notFound,
  },
  async handle(context, call) {
    const id = readKeyId(call);
    await lifecycle.liftBan(context.store, context.clock.now(), id, actorOf(call));
    return keyReply(context, 200, id);
  },
};

const names = [
  ...([
    "id",
    "name",
    "kind",
    "plan",
    "limits",
    "scopes",
    "state",
    "createdAt",
    "expiresAt",
  ] as const),
  ...(["revokedAt", "lastUsedAt", "bannedUntil", "minute", "day", "secrets"] as const),
];

/** A key as operators see it at `now`. */
function describeKey(status: KeyStatus, now: number) {
  const json = keyJson(status);
  const { perMinute, perDay, kind, plan } = json;
  const shown = {
    ...json,
    plan: kind === "operator" ? null : plan,
    minute: { used: status.usedThisMinute, limit: perMinute, resetsAt: endOf(minuteMs, now) },
    day: { used: status.usedToday, limit: perDay, resetsAt: endOf(dayMs, now) },
  };
  return inOrder(shown, names);
}

/** The end of the window that contains `now`. */
function endOf(windowMs: number, now: number): string {
  return new Date(now - (now % windowMs) + windowMs).toISOString();
}

/** The key as it is now, with further fields. */
async function keyReply(
  { store, clock, admin }: Context,
  status: number,
  id: string,
  further: Readonly<Record<string, unknown>> = {},
): Promise<Reply> {
  const now = clock.now();
  const found = await lifecycle.getKeyStatus(store, now, id, admin.findUsage);
  return { status, body: JSON.stringify({ ...describeKey(found, now), ...further }) };
}

/** Rejects what cannot be the id of a key. Databases do not accept every string in a query. */
export function readKeyId({ request }: Call): string {
  const id = request.params?.keyId ?? "";
  if (!keyId.test(id)) throw new ServiceError("not_found", keyNotFound);
  return id;
}

function readTerms(fields: Fields): KeyChange {
  return {
    name: textField(fields, "name"),
    plan: textField(fields, "plan"),
    perMinute: integerField(fields, "perMinute"),
    perDay: integerField(fields, "perDay"),
    scopes: textListField(fields, "scopes"),
    expiresAt: timeField(fields, "expiresAt"),
  };
}

function readKind(fields: Fields): "api" | "operator" {
  const kind = textField(fields, "kind") ?? "api";
  if (kind === "api" || kind === "operator") return kind;
  throw new InvalidField("kind", kindRule);
}

export const keyOperations = {
  listKeys,
  createKey,
  getKey,
  changeKey,
  rotateKey,
  revokeKey,
  liftBan,
};
