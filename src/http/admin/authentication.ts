import type { Keyring } from "../../domain/keys/keyring.ts";
import type { Environment } from "../../domain/keys/keys.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { crossOrigin } from "../messages/error-messages.ts";
import { insufficientScope, keyIn, unauthorized } from "../pipeline/authentication.ts";
import type { Authenticator } from "../pipeline/authenticator.ts";
import type { Call } from "../pipeline/operation.ts";
import { type Received, sessionTokenIn } from "./session-cookie.ts";

/**
 * Authenticates by operator key, sent as a bearer token, or by the cookie of a session. A request with
 * the header Authorization is never authenticated by its cookie.
 */
export function createOperatorAuthenticator(
  keys: Keyring,
  sessions: Keyring,
  environment: Environment,
): Authenticator {
  const look = <T>(received: Received, find: (keyring: Keyring, secret: string) => T) => {
    const key = keyIn(received.request);
    if (key !== undefined) return find(keys, key);
    const token = isByCookie(received.request) && sessionTokenIn(received, environment);
    return token ? find(sessions, token) : undefined;
  };
  return {
    identify: (request, origin) =>
      look({ request, origin }, (keyring, secret) => keyring.identify(secret)),
    lastKnownCaller: (request, origin) =>
      look({ request, origin }, (keyring, secret) => keyring.lastKnown(secret)),
    unauthorized: (request) => unauthorized(request, "operator", environment),
    insufficientScope,
    rejectForeign,
  };
}

/** Whether a cookie authenticates the request, if anything does. Browsers add cookies by themselves. */
export function isByCookie({ headers }: Call["request"]): boolean {
  return !headers.has("authorization");
}

/**
 * Rejects a request by the authority of a cookie, unless the browser says that
 * a page of this service sent it. Browsers add the cookie to the requests of every page on the same
 * site, and a site includes all ports of a host. No page can set the headers that are checked.
 */
function rejectForeign(received: Received): void {
  if (!isByCookie(received.request) || isSameOrigin(received) === true) return;
  throw new ServiceError("cross_origin", crossOrigin);
}

/** Rejects a sign-in by a page of another origin. Programs send nothing about their origin. */
export function rejectForeignSignIn(received: Received): void {
  if (isSameOrigin(received) === false) throw new ServiceError("cross_origin", crossOrigin);
}

/** Whether the headers name the service's own origin. Undefined without such headers. */
function isSameOrigin({ request, origin }: Received): boolean | undefined {
  const site = request.headers.get("sec-fetch-site");
  const sender = request.headers.get("origin");
  if (site === null && sender === null) return undefined;
  if (site !== null && site !== "same-origin") return false;
  return sender === null || isOwn(sender, origin.hostOf(request), origin.isSecure(request));
}

/** A proxy that is not trusted may use TLS without our knowledge, so https is always accepted. */
function isOwn(sender: string, host: string | null, isSecure: boolean): boolean {
  const protocol = /^https?:(?=\/\/)/.exec(sender)?.[0];
  if (protocol === undefined || host === null) return false;
  if (isSecure && protocol !== "https:") return false;
  const [sent, own] = [sender, `${protocol}//${host}`].map((text) => URL.parse(text)?.host);
  return sent !== undefined && sent === own;
}
