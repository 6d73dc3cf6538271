import * as lifecycle from "../../domain/keys/lifecycle.ts";
import { type KeyChange, rejectFixedTerms } from "../../domain/keys/terms.ts";
import { InvalidField, ServiceError } from "../../domain/running/errors.ts";
import { keyIdPattern } from "../api/parameters.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { actorOf } from "./actor.ts";
import {
  type Fields,
  integerField,
  readFields,
  readOptionalFields,
  textField,
  textListField,
  timeField,
} from "./fields.ts";
import { describeKey } from "./key-json.ts";
import { readOverlapMs } from "./overlaps.ts";
import { isoOrNull } from "./times.ts";

export async function listKeys({ store, clock, admin }: Context): Promise<Reply> {
  const now = clock.now();
  const statuses = await lifecycle.listKeyStatuses(store, now, admin.findUsage);
  return { status: 200, body: JSON.stringify(statuses.map((one) => describeKey(one, now))) };
}

export async function getKey(context: Context, call: Call): Promise<Reply> {
  return keyReply(context, 200, readKeyId(call));
}

export async function createKey(context: Context, call: Call): Promise<Reply> {
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
}

/** A request without any known field changes nothing. */
export async function changeKey(context: Context, call: Call): Promise<Reply> {
  const { store, clock } = context;
  const id = readKeyId(call);
  const change = readTerms(await readFields(call));
  if (Object.values(change).some((value) => value !== undefined)) {
    await lifecycle.changeKey(store, clock.now(), id, change, actorOf(call));
  }
  return keyReply(context, 200, id);
}

export async function rotateKey(context: Context, call: Call): Promise<Reply> {
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
}

export async function revokeKey(context: Context, call: Call): Promise<Reply> {
  const id = readKeyId(call);
  await lifecycle.revokeKey(context.store, context.clock.now(), id, actorOf(call));
  return keyReply(context, 200, id);
}

/** Also succeeds if no ban is in force. */
export async function liftBan(context: Context, call: Call): Promise<Reply> {
  const id = readKeyId(call);
  await lifecycle.liftBan(context.store, context.clock.now(), id, actorOf(call));
  return keyReply(context, 200, id);
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

const keyId = new RegExp(keyIdPattern);

export const keyNotFound = "There is no key with this id.";

/** A text that is no id cannot belong to a key. Databases do not accept every text in a query. */
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

export const kindRule = "must be api or operator";

function readKind(fields: Fields): "api" | "operator" {
  const kind = textField(fields, "kind") ?? "api";
  if (kind === "api" || kind === "operator") return kind;
  throw new InvalidField("kind", kindRule);
}
