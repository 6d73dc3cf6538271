import { endSession as end, startSession as start } from "../../domain/keys/sessions.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { signInWithKey } from "../messages/error-messages.ts";
import type { Reply } from "../messages/reply.ts";
import { keyIn } from "../pipeline/authentication.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { actorOf } from "./actor.ts";
import { rejectForeignSignIn } from "./same-origin.ts";
import { sessionCookie, sessionTokenIn } from "./session-cookie.ts";
import { isoOrNull } from "./times.ts";

/** Exchanges the operator key for a session. Every session has a new token. */
export async function startSession(context: Context, call: Call): Promise<Reply> {
  rejectForeignSignIn(call);
  const { store, clock, admin } = context;
  const key = keyIn(call.request);
  if (key === undefined) throw new ServiceError("invalid_request", signInWithKey);
  const { token, expiresAt } = await start(store.sessions, clock.now(), actorOf(call), key);
  const body = await sessionJson(context, call, Math.min(expiresAt, call.caller.expiresAt));
  const cookie = sessionCookie(call, admin.facts.environment, token);
  return { status: 201, body, headers: { "Set-Cookie": cookie } };
}

/** Also for a request with a key and no session. The time is then that of the key. */
export async function getSession(context: Context, call: Call): Promise<Reply> {
  return { status: 200, body: await sessionJson(context, call, call.caller.expiresAt) };
}

export async function endSession({ store, clock, admin }: Context, call: Call): Promise<Reply> {
  const { environment } = admin.facts;
  const token = sessionTokenIn(call, environment);
  if (token !== undefined) await end(store.sessions, clock.now(), actorOf(call), token);
  const cookie = sessionCookie(call, environment, undefined);
  return { status: 204, body: null, headers: { "Set-Cookie": cookie } };
}

async function sessionJson(
  { store, admin }: Context,
  { caller }: Call,
  expiresAt: number,
): Promise<string> {
  const { environment, version } = admin.facts;
  const key = await store.keys.findKey(caller.keyId);
  return JSON.stringify({
    operator: { id: caller.keyId, name: key?.name ?? "" },
    environment,
    version,
    expiresAt: isoOrNull(expiresAt),
  });
}
