import type { Keyring } from "../domain/keyring.ts";
import { errorReply } from "./errors.ts";
import { missingKey, missingScope } from "./messages.ts";
import type { Authenticator } from "./surface.ts";

const bearer = /^Bearer +([!-~]+) *$/i;

const challenge = 'Bearer realm="petstore"';

/** Authenticates by API key, sent as a bearer token (RFC 6750). */
export function createKeyAuthenticator(keyring: Keyring): Authenticator {
  return {
    identify(request) {
      const key = keyIn(request);
      return key === undefined ? undefined : keyring.identify(key);
    },
    lastKnownCaller(request) {
      const key = keyIn(request);
      return key === undefined ? undefined : keyring.lastKnown(key);
    },
    /** The message is the same for every invalid key, so it does not reveal which keys exist. */
    unauthorized(request) {
      const isKeySent = request.headers.has("authorization");
      return errorReply("unauthorized", missingKey, {
        "WWW-Authenticate": isKeySent ? `${challenge}, error="invalid_token"` : challenge,
      });
    },
    /** RFC 6750 3.1: the challenge names the scope that is required. */
    insufficientScope: (scope) =>
      errorReply("insufficient_scope", missingScope(scope), {
        "WWW-Authenticate": `${challenge}, error="insufficient_scope", scope="${scope}"`,
      }),
  };
}

function keyIn({ headers }: Request): string | undefined {
  const authorization = headers.get("authorization");
  return authorization === null ? undefined : bearer.exec(authorization)?.[1];
}
