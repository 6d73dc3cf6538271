import type { By } from "../../domain/audit/audit.ts";
import { keyJson } from "../../domain/keys/key-json.ts";
import type { KeyStatus } from "../../domain/keys/lifecycle.ts";
import * as lifecycle from "../../domain/keys/lifecycle.ts";
import {
  fixedForOperators,
  type KeyChange,
  onlyForOperators,
  rejectFixedTerms,
  roleRule,
} from "../../domain/keys/terms.ts";
import { InvalidField, ServiceError } from "../../domain/running/errors.ts";
import { inOrder } from "../../domain/values/json.ts";
import { dayMs, isoOrNull, minuteMs } from "../../domain/values/times.ts";
import { type Contract, json, jsonList, type Parameter } from "../api/contract/contract.ts";
import { exampleKeyId } from "../api/contract/examples.ts";
import { jsonBody, mergePatchBody } from "../api/declaration.ts";
import { flagParameter, keyIdPattern, readParameter } from "../api/parameters.ts";
import { bodyMessages, type Fields, textOf } from "../messages/fields.ts";
import { ok, type Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import { type AdminDeclaration, byOperator } from "./admin-declaration.ts";
import { exampleNewKey, keyNames } from "./contract/key-schemas.ts";
import {
  integerField,
  overlapRule,
  readOverlapMs,
  textField,
  textListField,
  timeField,
} from "./fields.ts";

export const keyIdParameter: Parameter = {
  name: "keyId",
  in: "path",
  description: "The ID of the key.",
  schema: { type: "string", pattern: keyIdPattern },
  example: exampleKeyId,
};

export const keyNotFound = "There is no key with this id.";
export const notFound = { not_found: { not_found: keyNotFound } };

const revokedMessage = `Key ${exampleKeyId} is revoked; issue a new one.`;

const keyId = new RegExp(keyIdPattern);

const roleMessages = {
  fixed_for_operators: `Field 'plan' ${fixedForOperators}.`,
  only_for_operators: `Field 'role' ${onlyForOperators}.`,
  invalid_role: `Field 'role' ${roleRule}.`,
};

const kindRule = "must be api or operator";

const force = flagParameter(
  "force",
  "Also if no other owner's key is valid for as long. Then only `petstore keys create` makes one.",
);

const listKeys: AdminDeclaration = {
  method: "GET",
  path: "/keys",
  contract: {
    summary: "List the keys",
    description: "Returns all keys, the oldest first. Revoked and expired keys are kept.",
    success: { 200: jsonList("All keys.", "Key") },
  },
  async handle({ store, clock, admin }) {
    const now = clock.now();
    const statuses = await lifecycle.listKeyStatuses(store, now, admin.findUsage);
    return ok(statuses.map((one) => describeKey(one, now)));
  },
};

const exampleOperator = { name: "Ada", kind: "operator", role: "clerk" };

const createKey: AdminDeclaration = {
  method: "POST",
  path: "/keys",
  body: jsonBody,
  kind: "making",
  contract: {
    summary: "Create a key",
    description:
      "Creates an API key or an operator key. The response contains its secret, which is shown only once: the service keeps only a digest.",
    body: json("The key to create.", "NewKey", {
      examples: {
        api: { summary: "An API key", value: exampleNewKey },
        operator: { summary: "An operator key", value: exampleOperator },
      },
    }),
    success: { 201: json("The new key.", "IssuedKey") },
    messages: {
      invalid_request: {
        ...bodyMessages,
        invalid_kind: `Field 'kind' ${kindRule}.`,
        ...roleMessages,
      },
    },
  },
  async run(context, call, fields) {
    const { store, admin } = context;
    const { environment } = admin.facts;
    const { expiresAt, ...terms } = readTerms(fields);
    const { name = "", plan = "", role } = terms;
    const isOperator = readKind(fields) === "operator";
    if (isOperator) rejectFixedTerms(terms);
    const ends = { expiresAt: expiresAt ?? undefined };
    const by = byOperator(call, context);
    const issued = isOperator
      ? await lifecycle.issueOperatorKey(store, environment, { name, role, ...ends }, by)
      : await lifecycle.issueKey(store, environment, { ...terms, name, plan, ...ends }, by);
    return keyReply(context, 201, issued.key.id, { key: issued.text });
  },
};

const getKey: AdminDeclaration = {
  method: "GET",
  path: "/keys/{keyId}",
  contract: {
    summary: "Get a key",
    description: "Returns one key with its current use.",
    parameters: [keyIdParameter],
    success: { 200: json("The key.", "Key") },
    messages: notFound,
  },
  handle: (context, { request }) => keyReply(context, 200, readKeyId(request.params)),
};

/** A request without any known field changes nothing. */
const changeKey: AdminDeclaration = {
  method: "PATCH",
  path: "/keys/{keyId}",
  body: mergePatchBody,
  kind: "repeatable",
  contract: {
    summary: "Change a key",
    description:
      "Changes the given fields of a key. They take effect with its next request. A revoked key cannot be changed.",
    parameters: [keyIdParameter, force],
    errors: ["last_owner"],
    body: json("The fields to change.", "KeyChange", {
      examples: {
        plan: { summary: "Another plan", value: { plan: "pro" } },
        expiry: { summary: "An expiry time", value: { expiresAt: "2027-01-31T00:00:00Z" } },
      },
    }),
    success: { 200: json("The changed key.", "Key") },
    messages: {
      invalid_request: { ...bodyMessages, ...roleMessages, revoked: revokedMessage },
      ...notFound,
    },
  },
  async run(context, call, fields) {
    const id = readKeyId(fields);
    const change = readTerms(fields);
    if (Object.values(change).some((value) => value !== undefined)) {
      const by = byOperator(call, context);
      await lifecycle.changeKey(context.store, id, change, by, isForced(fields));
    }
    return keyReply(context, 200, id);
  },
};

const rotateKey: AdminDeclaration = {
  method: "POST",
  path: "/keys/{keyId}/rotate",
  body: jsonBody,
  kind: "making",
  contract: {
    summary: "Rotate a key",
    description:
      "Issues a new secret for a key. The old secret stays valid for the overlap, so that clients can switch. Sessions that were started with the old secret end with it.",
    parameters: [keyIdParameter],
    body: json("How long the old secret stays valid. Without a body, 24 hours.", "KeyRotation", {
      isOptional: true,
      examples: { at_once: { summary: "Without an overlap", value: { overlapSeconds: 0 } } },
    }),
    success: { 200: json("The key with its new secret.", "RotatedKey") },
    messages: {
      invalid_request: {
        ...bodyMessages,
        invalid_overlap: `Field 'overlapSeconds' ${overlapRule}.`,
        revoked: revokedMessage,
      },
      ...notFound,
    },
  },
  async run(context, call, fields) {
    const { store, admin } = context;
    const id = readKeyId(fields);
    const overlapMs = readOverlapMs(fields);
    const { environment } = admin.facts;
    const by = byOperator(call, context);
    const rotated = await lifecycle.rotateKey(store, environment, id, by, overlapMs);
    const { text, oldValidUntil } = rotated;
    return keyReply(context, 200, id, { key: text, oldValidUntil: isoOrNull(oldValidUntil) });
  },
};

const isForced = (fields: Fields) => readParameter(fields, force) ?? false;

/** An operation that acts on one key and returns it. */
function keyAction(
  path: string,
  act: (store: Context["store"], id: string, by: By, isForced: boolean) => Promise<unknown>,
  {
    returned,
    ...text
  }: Pick<Contract, "summary" | "description" | "errors"> & { returned: string },
): AdminDeclaration {
  return {
    method: "POST",
    path: `/keys/{keyId}/${path}`,
    kind: "repeatable",
    contract: {
      ...text,
      parameters: [keyIdParameter, ...(text.errors ? [force] : [])],
      success: { 200: json(returned, "Key") },
      messages: notFound,
    },
    async run(context, call, fields) {
      const id = readKeyId(fields);
      await act(context.store, id, byOperator(call, context), isForced(fields));
      return keyReply(context, 200, id);
    },
  };
}

const revokeKey = keyAction("revoke", lifecycle.revokeKey, {
  summary: "Revoke a key",
  description:
    "Ends a key permanently. Its next request gets 401, and its sessions end. A key that is already revoked keeps the time of its first revocation.",
  returned: "The revoked key.",
  errors: ["last_owner"],
});

const liftBan = keyAction("unban", lifecycle.liftBan, {
  summary: "Lift a ban",
  description: "Ends the ban of a key. Also succeeds if no ban is in force.",
  returned: "The key.",
});

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
  return inOrder(shown, keyNames);
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
export function readKeyId(fields: Fields = {}): string {
  const id = textOf(fields, "keyId") ?? "";
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
    role: textField(fields, "role"),
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
