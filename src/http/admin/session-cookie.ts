import type { Environment } from "../../domain/keys/keys.ts";
import { sessionMs } from "../../domain/keys/sessions.ts";
import type { Call } from "../pipeline/operation.ts";

/** A request, and where its client reaches the service. */
export type Received = Pick<Call, "request" | "origin">;

/**
 * Production and staging can have the same host. Over TLS, the prefix makes browsers refuse a cookie
 * that another host or an unencrypted page has set.
 */
function cookieName(environment: Environment, isSecure: boolean): string {
  return `${isSecure ? "__Host-" : ""}petstore_${environment}`;
}

/** Whether the browser has signed in, as far as its cookies show: the session may have ended. */
export function hasSessionCookie(request: Request, environment: Environment): boolean {
  return [true, false].some(
    (isSecure) => readCookie(request, cookieName(environment, isSecure)) !== undefined,
  );
}

/** The token of the session, if the request has one. It may be invalid. */
export function sessionTokenIn(received: Received, environment: Environment): string | undefined {
  const { request, origin } = received;
  return readCookie(request, cookieName(environment, origin.isSecure(request)));
}

/** The value of Set-Cookie that starts a session in the browser, or ends it without a token. */
export function sessionCookie(
  received: Received,
  environment: Environment,
  token: string | undefined,
): string {
  const ageSeconds = token === undefined ? 0 : sessionMs / 1_000;
  const isSecure = received.origin.isSecure(received.request);
  const name = cookieName(environment, isSecure);
  const secure = isSecure ? "; Secure" : "";
  return `${name}=${token ?? ""}; Path=/; Max-Age=${ageSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

/**
 * The value of the cookie with this name, as it was sent. Undefined if there is none, and if there are
 * several: one of them was then set for another path or domain, perhaps by somebody else.
 */
function readCookie({ headers }: Pick<Request, "headers">, name: string) {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`));
  return values.length === 1 ? values[0]!.slice(name.length + 1) : undefined;
}
