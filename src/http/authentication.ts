import type { Keyring } from "../domain/keyring.ts";
import type { GrantedScope } from "../domain/keys.ts";
import { errorReply } from "./errors.ts";
import { missingKey, missingScope } from "./messages.ts";
import type { Reply } from "./operation.ts";
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
    unauthorized: (request) => unauthorized(request, missingKey),
    insufficientScope,
  };
}

/** The message is the same for every invalid key, so it does not reveal which keys exist. */
export function unauthorized({ headers }: Request, message: string): Reply {
  const isKeySent = headers.has("authorization");
  return errorReply("unauthorized", message, {
    "WWW-Authenticate": isKeySent ? `${challenge}, error="invalid_token"` : challenge,
  });
}

/** RFC 6750 3.1: the challenge names the scope that is required. */
export function insufficientScope(scope: GrantedScope): Reply {
  return errorReply("insufficient_scope", missingScope(scope), {
    "WWW-Authenticate": `${challenge}, error="insufficient_scope", scope="${scope}"`,
  });
}

/** The key that was sent as a bearer token. */
export function keyIn({ headers }: Request): string | undefined {
  const authorization = headers.get("authorization");
  return authorization === null ? undefined : bearer.exec(authorization)?.[1];
}
