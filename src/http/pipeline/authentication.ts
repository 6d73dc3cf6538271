import type { Keyring } from "../../domain/keys/keyring.ts";
import {
  type Caller,
  type Environment,
  findKeyFault,
  type GrantedScope,
  type KeyKind,
} from "../../domain/keys/keys.ts";
import * as messages from "../messages/error-messages.ts";
import { errorReply } from "../messages/errors.ts";
import type { Reply } from "../messages/reply.ts";
import type { Authenticator } from "./authenticator.ts";
import type { Context } from "./context.ts";
import type { Call } from "./operation.ts";

const bearer = /^Bearer +([!-~]+) *$/i;

const challenge = 'Bearer realm="petstore"';

/** Authenticates by API key, sent as a bearer token (RFC 6750). */
export function createKeyAuthenticator(keyring: Keyring, environment: Environment): Authenticator {
  return {
    identify(request) {
      const key = plainKeyIn(request) ?? keyIn(request);
      return key === undefined ? undefined : keyring.identify(key);
    },
    lastKnownCaller(request) {
      const key = keyIn(request);
      return key === undefined ? undefined : keyring.lastKnown(key);
    },
    version: keyring.version,
    unauthorized: (request) => unauthorized(request, "api", environment),
    insufficientScope,
  };
}

/**
 * The message says what is wrong with the sent text, if the text shows it. It is the same for every text
 * that can be a key, so it does not reveal which keys exist.
 */
export function unauthorized(request: Request, kind: KeyKind, environment: Environment): Reply {
  const rule = kind === "api" ? messages.missingKey : messages.missingOperatorKey;
  const fault = faultOf(request, kind, environment);
  const isKeySent = request.headers.has("authorization");
  return errorReply("unauthorized", fault === undefined ? rule : `${rule} ${fault}`, {
    "WWW-Authenticate": isKeySent ? `${challenge}, error="invalid_token"` : challenge,
  });
}

function faultOf(request: Request, kind: KeyKind, environment: Environment): string | undefined {
  const { headers, url } = request;
  const authorization = headers.get("authorization");
  if (authorization === null) {
    if (headers.has("x-api-key")) return messages.keyInOtherHeader;
    return keyInQuery.test(url) ? messages.keyInQuery : undefined;
  }
  if (!/^Bearer( |$)/i.test(authorization)) return messages.notBearer;
  const key = keyIn(request);
  if (key === undefined)
    return authorization.trim().includes(" ") ? messages.spacesInKey : undefined;
  const fault = findKeyFault(key, environment, kind);
  switch (fault?.kind) {
    case "prefix":
      return messages.notAKey(fault.expected);
    case "other kind":
      return kind === "api" ? messages.operatorKeySent : messages.apiKeySent;
    case "other environment":
      return messages.otherEnvironment(fault.environment, environment);
    case "checksum":
      return messages.mistypedKey;
    default:
      return undefined;
  }
}

/** Parameters by the names that other services use, and keys of this service by any name. */
const keyInQuery = /[?&](?:(?:api[-_]?key|access[-_]?token)=|[^=&]*=ps[ko]_(?:live|test)_)/i;

/** RFC 6750 3.1: the challenge names the scope that is required. */
export function insufficientScope(scope: GrantedScope): Reply {
  return errorReply("insufficient_scope", messages.missingScope(scope), {
    "WWW-Authenticate": `${challenge}, error="insufficient_scope", scope="${scope}"`,
  });
}

const plainScheme = "Bearer ";

/** The same as `keyIn` for the form that nearly every client sends, and for texts that are not keys. */
function plainKeyIn({ headers }: Request): string | undefined {
  const authorization = headers.get("authorization");
  if (!authorization?.startsWith(plainScheme)) return undefined;
  const key = authorization.slice(plainScheme.length);
  return key.includes(" ") ? undefined : key;
}

/** The key that was sent as a bearer token. */
export function keyIn({ headers }: { readonly headers: Pick<Headers, "get"> }): string | undefined {
  const authorization = headers.get("authorization");
  return authorization === null ? undefined : bearer.exec(authorization)?.[1];
}

/** Whether the caller of a request is still the same, if `version` was that of its authenticator. */
export function isStillCaller(
  { head, clock }: Pick<Context, "head" | "clock">,
  { authenticator, caller }: Call,
  version: number | undefined,
): boolean {
  head.cachedHead();
  return version === authenticator.version?.() && clock.now() < caller.expiresAt;
}

/** Who sends a request. The key may have been revoked while the body arrived, or while it waited for a place. */
export async function identifyAgain(
  { head }: Pick<Context, "head">,
  { authenticator, request, origin }: Call,
  scope?: GrantedScope,
): Promise<Caller | Reply> {
  head.cachedHead();
  const caller = await authenticator.identify(request, origin);
  if (!caller) return authenticator.unauthorized(request);
  if (scope && !caller.scopes.includes(scope)) return authenticator.insufficientScope(scope);
  return caller;
}
