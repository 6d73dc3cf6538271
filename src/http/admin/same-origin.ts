import { ServiceError } from "../../domain/running/errors.ts";
import { crossOrigin } from "../messages/error-messages.ts";
import type { Call } from "../pipeline/operation.ts";
import { isByCookie } from "./authentication.ts";

/**
 * Rejects a request that changes something by the authority of a cookie, unless the browser says that
 * a page of this service sent it. Browsers add the cookie to the requests of every page on the same
 * site, and a site includes all ports of a host. No page can set the headers that are checked.
 */
export function rejectOtherOrigins(call: Call): void {
  const { request } = call;
  if (request.method === "GET" || request.method === "HEAD" || !isByCookie(request)) return;
  if (isSameOrigin(call) !== true) throw new ServiceError("cross_origin", crossOrigin);
}

/** Rejects a sign-in by a page of another origin. Programs send nothing about their origin. */
export function rejectForeignSignIn(call: Call): void {
  if (isSameOrigin(call) === false) throw new ServiceError("cross_origin", crossOrigin);
}

/** Whether the headers name the service's own origin. Undefined without such headers. */
function isSameOrigin({ request, origin }: Call): boolean | undefined {
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
