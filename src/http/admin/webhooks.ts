import { InvalidField, ServiceError } from "../../domain/running/errors.ts";
import { JsonNumber } from "../../domain/values/json.ts";
import {
  createWebhook as create,
  deleteWebhook,
  getWebhookStatus,
  listWebhooks as list,
  pauseWebhook as pause,
  replayWebhook as replay,
  resumeWebhook as resume,
  rotateSecret,
  type WebhookStatus,
} from "../../domain/webhooks/lifecycle.ts";
import type { Webhook, WebhookAttempt } from "../../domain/webhooks/webhook.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { actorOf } from "./actor.ts";
import {
  type Fields,
  given,
  integerField,
  readFields,
  readOptionalFields,
  textField,
  textListField,
  withoutNulls,
} from "./fields.ts";
import { readOverlapMs } from "./overlaps.ts";
import { isoOrNull } from "./times.ts";

export const petsRule = "must be an array of ids of pets, which are 64-bit integers";
export const urlRequired = "is required";

export async function listWebhooks({ store }: Context): Promise<Reply> {
  return ok((await list(store)).map(webhookOf));
}

export async function getWebhook({ store }: Context, call: Call): Promise<Reply> {
  const status = await getWebhookStatus(store, idOf(call));
  return ok({ ...webhookOf(status), attempts: status.attempts.map(attemptOf) });
}

export async function createWebhook({ store, clock, admin }: Context, call: Call): Promise<Reply> {
  const sent = await readFields(call);
  const url = textField(sent, "url");
  if (url === undefined) throw new InvalidField("url", urlRequired);
  const fields = withoutNulls(sent);
  const terms = {
    url,
    name: textField(fields, "name"),
    pets: petsField(fields),
    statuses: textListField(fields, "statuses"),
    causes: textListField(fields, "causes"),
    below: integerField(fields, "below"),
    from: integerField(fields, "from"),
  };
  const { webhook, secret, isResolved } = await create(
    store,
    admin.webhookUrls,
    clock.now(),
    terms,
    actorOf(call),
  );
  const created = webhookOf(await getWebhookStatus(store, webhook.id));
  return { status: 201, body: JSON.stringify({ ...created, secret, isResolved }) };
}

export async function pauseWebhook({ store, clock }: Context, call: Call): Promise<Reply> {
  await pause(store, clock.now(), idOf(call), actorOf(call));
  return current(store, call);
}

export async function resumeWebhook({ store, clock }: Context, call: Call): Promise<Reply> {
  await resume(store, clock.now(), idOf(call), actorOf(call));
  return current(store, call);
}

export async function replayWebhook({ store, clock }: Context, call: Call): Promise<Reply> {
  const from = integerField(await readFields(call), "from");
  if (from === undefined) throw new InvalidField("from", "is required");
  await replay(store, clock.now(), idOf(call), from, actorOf(call));
  return current(store, call);
}

export async function rotateWebhookSecret({ store, clock }: Context, call: Call): Promise<Reply> {
  const overlapMs = readOverlapMs(await readOptionalFields(call));
  const { secret } = await rotateSecret(store, clock.now(), idOf(call), actorOf(call), overlapMs);
  return ok({ ...webhookOf(await getWebhookStatus(store, idOf(call))), secret });
}

export async function removeWebhook({ store, clock }: Context, call: Call): Promise<Reply> {
  await deleteWebhook(store, clock.now(), idOf(call), actorOf(call));
  return { status: 204, body: null };
}

function idOf({ request }: Call): string {
  const id = request.params?.webhookId ?? "";
  // The store would reject a text with NUL, which no id has.
  if (/^wh_[0-9A-Za-z]{1,64}$/.test(id)) return id;
  throw new ServiceError("not_found", "There is no webhook with this id.");
}

async function current(store: Context["store"], call: Call): Promise<Reply> {
  return ok(webhookOf(await getWebhookStatus(store, idOf(call))));
}

/** Ids of pets are integers in JSON, and may be strings for clients that cannot write 64 bits. */
function petsField(fields: Fields): readonly string[] | undefined {
  const value = given(fields, "pets");
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw new InvalidField("pets", petsRule);
  return value.map((one) => {
    const integer = one instanceof JsonNumber ? one.toInteger() : one;
    if (typeof integer === "bigint") return String(integer);
    if (typeof integer === "string" && integer !== "fraction" && integer !== "huge") return integer;
    throw new InvalidField("pets", petsRule);
  });
}

/** Never a secret. */
function webhookOf({ webhook, behind }: Pick<WebhookStatus, "webhook" | "behind">) {
  const { filter, secrets } = webhook;
  return {
    id: webhook.id,
    name: webhook.name,
    url: webhook.url,
    state: webhook.state,
    stateReason: webhook.stateReason,
    createdAt: isoOrNull(webhook.createdAt),
    filter: { ...filter, pets: filter.pets?.map(exactInteger) ?? null },
    cursor: webhook.cursor.seq,
    behind,
    failures: webhook.failures,
    failingSince: isoOrNull(webhook.failingSince),
    nextAttemptAt: isoOrNull(nextAttemptAt(webhook)),
    oldSecretUntil: isoOrNull(secrets.previousExpiresAt),
  };
}

function nextAttemptAt({ nextAttemptAt: time }: Webhook): number | null {
  return time === 0 ? null : time;
}

function attemptOf({ at, ...attempt }: WebhookAttempt) {
  return { at: isoOrNull(at), ...attempt };
}

/** Written by JSON.stringify with all digits. */
function exactInteger(value: bigint): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(value));
}

function ok(body: unknown): Reply {
  return { status: 200, body: JSON.stringify(body) };
}
