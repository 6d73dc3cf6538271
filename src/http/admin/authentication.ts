import type { Keyring } from "../../domain/keys/keyring.ts";
import type { Environment } from "../../domain/keys/keys.ts";
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
  };
}

/** Whether a cookie authenticates the request, if anything does. Browsers add cookies by themselves. */
export function isByCookie({ headers }: Call["request"]): boolean {
  return !headers.has("authorization");
}
