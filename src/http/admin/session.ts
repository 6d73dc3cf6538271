import { environments, roleOf, roles } from "../../domain/keys/keys.ts";
import { endSession as end, startSession as start } from "../../domain/keys/sessions.ts";
import { invalidRequest } from "../../domain/running/errors.ts";
import { isoOrNull } from "../../domain/values/times.ts";
import { json } from "../api/contract/contract.ts";
import { exampleOperatorId } from "../api/contract/examples.ts";
import * as schema from "../api/contract/schema.ts";
import { signInWithKey } from "../messages/error-messages.ts";
import { keyIn } from "../pipeline/authentication.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import type { AdminDeclaration } from "./admin-declaration.ts";
import { rejectForeignSignIn } from "./authentication.ts";
import { sessionCookie, sessionTokenIn } from "./session-cookie.ts";

const exampleSession = {
  operator: { id: exampleOperatorId, name: "Ada", role: "owner" },
  environment: "production",
  version: "0.18.0",
  expiresAt: "2026-11-16T20:00:00.000Z",
};

export const sessionSchemas: Readonly<Record<string, schema.Schema>> = {
  Operator: schema.responseObject(
    "An operator: the owner of an operator key.",
    {
      id: schema.text("The ID of the operator key."),
      name: schema.text("The name of the operator key."),
      role: schema.choice(roles, "What the operator can do."),
    },
    exampleSession.operator,
  ),
  Session: schema.responseObject(
    "Who is signed in, and where.",
    {
      operator: schema.named("Operator", "Who is signed in."),
      environment: schema.choice(environments, "The environment of the service."),
      version: schema.text("The version of the service."),
      expiresAt: schema.timeOrNull(
        "When the session ends by itself. For a request with a key, when the key expires; null if it does not.",
      ),
    },
    exampleSession,
  ),
};

/** Exchanges the operator key for a session. Every session has a new token. */
const startSession: AdminDeclaration = {
  method: "POST",
  path: "/session",
  kind: "making",
  contract: {
    summary: "Sign in",
    description:
      "Exchanges an operator key for a session of 12 hours. Send the key in `Authorization`. The response sets a cookie, which authenticates later requests of the same browser. The session also ends when the key expires, is revoked, or is rotated without an overlap.",
    success: { 201: json("The new session.", "Session", { headers: ["Set-Cookie"] }) },
    messages: { invalid_request: { key_required: signInWithKey } },
  },
  async run(context, call) {
    rejectForeignSignIn(call);
    const { store, clock, admin } = context;
    const key = keyIn(call.request);
    if (key === undefined) throw invalidRequest(signInWithKey);
    const { token, expiresAt } = await start(store.sessions, clock.now(), call.actor, key);
    const body = await sessionJson(context, call, Math.min(expiresAt, call.caller.expiresAt));
    const cookie = sessionCookie(call, admin.facts.environment, token);
    return { status: 201, body, headers: { "Set-Cookie": cookie } };
  },
};

/** Also for a request with a key and no session. The time is then that of the key. */
const getSession: AdminDeclaration = {
  method: "GET",
  path: "/session",
  contract: {
    summary: "Get the session",
    description: "Returns who is signed in.",
    success: { 200: json("The session.", "Session") },
  },
  async handle(context, call) {
    return { status: 200, body: await sessionJson(context, call, call.caller.expiresAt) };
  },
};

const endSession: AdminDeclaration = {
  method: "DELETE",
  path: "/session",
  kind: "repeatable",
  contract: {
    summary: "Sign out",
    description: "Ends the session and removes its cookie. The cookie no longer works.",
    success: { 204: { description: "The session has ended.", headers: ["Set-Cookie"] } },
  },
  async run({ store, clock, admin }, call) {
    const { environment } = admin.facts;
    const token = sessionTokenIn(call, environment);
    if (token !== undefined) await end(store.sessions, clock.now(), call.actor, token);
    const cookie = sessionCookie(call, environment, undefined);
    return { status: 204, body: null, headers: { "Set-Cookie": cookie } };
  },
};

async function sessionJson(
  { store, admin }: Context,
  { caller }: Call,
  expiresAt: number,
): Promise<string> {
  const { environment, version } = admin.facts;
  const key = await store.keys.findKey(caller.keyId);
  return JSON.stringify({
    operator: { id: caller.keyId, name: key?.name ?? "", role: roleOf(caller) },
    environment,
    version,
    expiresAt: isoOrNull(expiresAt),
  });
}

export const sessionOperations = { startSession, getSession, endSession };
