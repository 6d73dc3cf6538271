import type { Keyring } from "../../domain/keys/keyring.ts";
import type { Environment } from "../../domain/keys/keys.ts";
import { insufficientScope, keyIn, unauthorized } from "../pipeline/authentication.ts";
import type { Call } from "../pipeline/operation.ts";
import type { Authenticator } from "../pipeline/surface.ts";
import { sessionTokenIn } from "./session-cookie.ts";

/**
 * Authenticates by operator key, sent as a bearer token, or by the cookie of a session. A request with
 * the header Authorization is never authenticated by its cookie.
 */
export function createOperatorAuthenticator(
  keys: Keyring,
  sessions: Keyring,
  environment: Environment,
): Authenticator {
  return {
    identify(request, origin) {
      const key = keyIn(request);
      if (key !== undefined) return keys.identify(key);
      const token = isByCookie(request) && sessionTokenIn({ request, origin }, environment);
      return token ? sessions.identify(token) : undefined;
    },
    lastKnownCaller(request, origin) {
      const key = keyIn(request);
      if (key !== undefined) return keys.lastKnown(key);
      const token = isByCookie(request) && sessionTokenIn({ request, origin }, environment);
      return token ? sessions.lastKnown(token) : undefined;
    },
    unauthorized: (request) => unauthorized(request, "operator", environment),
    insufficientScope,
  };
}

/** Whether a cookie authenticates the request, if anything does. Browsers add cookies by themselves. */
export function isByCookie({ headers }: Call["request"]): boolean {
  return !headers.has("authorization");
}
