import { randomBytes } from "node:crypto";
import { Refusal } from "../domain/errors.ts";
import type { Keyring } from "../domain/keyring.ts";
import type { Caller, Scope } from "../domain/keys.ts";
import type { Verdict } from "../domain/limits.ts";
import type { Head, Limiter, Log, MaybePromise } from "../domain/ports.ts";
import type { Operation } from "./api/operations.ts";
import type { Answer, Context, IncomingRequest } from "./call.ts";
import type { Cors } from "./cors.ts";
import { answerFor, errorAnswer, nothingHere } from "./errors.ts";
import { createSheet, type Sheet, stamp } from "./headers.ts";
import { hasValidHost, hostRule } from "./host.ts";
import { denial } from "./rate-limits.ts";
import type { Route } from "./routes.ts";

export interface PipelineParts {
  readonly shop: Context;
  readonly keyring: Keyring;
  readonly limiter: Limiter;
  readonly addresses: AddressCount;
  readonly cors: Cors | undefined;
  readonly log: Log;
  /** True once the service stops: every answer then tells its client to close. */
  isStopping(): boolean;
}

/** Counts requests without a valid key. */
export interface AddressCount {
  take(address: string): Verdict;
  /** How an address stands, for an answer that takes nothing from it. */
  standing(address: string): Verdict;
}

/** A request as the HTTP server hands it over. */
export interface Arrival {
  readonly request: IncomingRequest;
  readonly route: Route | undefined;
  /** The client's address, looked up only when it is needed. */
  address(): string;
}

export type Pipeline = (arrival: Arrival) => Promise<Response>;

/**
 * The one way every request under /v1 takes: request id, authenticate, limit, route, operation,
 * answer. Unknown paths and methods take it too, so that nothing can be learnt without a key.
 */
export function createPipeline(parts: PipelineParts): Pipeline {
  const { shop, keyring, limiter, addresses, cors, log } = parts;

  function operate(
    { request, route }: Arrival,
    requestId: string,
    caller: Caller,
    head: Head | undefined,
  ): MaybePromise<Answer> {
    if (!route) throw new Refusal("not_found", nothingHere);
    const operation = route.operations.get(request.method);
    if (!operation) return methodNotAllowed(route);
    if (!caller.scopes.includes(operation.scope)) {
      return insufficientScope(operation.scope);
    }
    return operation.handle(shop, { request, requestId, caller, head });
  }

  /** An answer without headers of its own needs only what its operation always says. */
  const plainSheets = new Map<Operation, Sheet>();

  function plainSheet(operation: Operation, route: Route): Sheet {
    let sheet = plainSheets.get(operation);
    if (!sheet) {
      sheet = createSheet(fixedHeaders(route, operation));
      plainSheets.set(operation, sheet);
    }
    return sheet;
  }

  function sheetFor(arrival: Arrival, answer: Answer): Sheet {
    if (!cors && answer.sheet) return answer.sheet;
    const { request, route } = arrival;
    const operation = route?.operations.get(request.method);
    if (!cors && !answer.headers && route && operation) return plainSheet(operation, route);
    const sheet = createSheet(fixedHeaders(route, operation));
    const { headers } = sheet;
    if (answer.status === 204 || answer.status === 304) headers.delete("Content-Type");
    for (const [name, value] of answer.sheet?.headers ?? []) headers.set(name, value);
    for (const [name, value] of Object.entries(answer.headers ?? {})) headers.set(name, value);
    // An answer may depend on the origin and on something else: no Vary replaces another.
    for (const [name, value] of Object.entries(cors?.headersFor(request, route) ?? {})) {
      headers.append(name, value);
    }
    return sheet;
  }

  /**
   * A browser sends preflights on its own, before requests with a valid key, so they are not counted.
   * Refusing one costs as much as answering it: a count would protect nothing.
   */
  function takeFromAddress(arrival: Arrival): Verdict {
    const address = arrival.address();
    return cors?.isPreflight(arrival.request, arrival.route)
      ? addresses.standing(address)
      : addresses.take(address);
  }

  return async (arrival) => {
    const { request } = arrival;
    const requestId = nextRequestId();
    let caller: Caller | undefined;
    let verdict: Verdict | undefined;
    let answer: Answer;
    const authorization = request.headers.get("authorization");
    try {
      const head = shop.head.cachedHead();
      const isHostValid = hasValidHost(request.headers);
      const isKeyless = request.method === "OPTIONS" || !isHostValid;
      const found = isKeyless ? undefined : identify(keyring, authorization);
      caller = found instanceof Promise ? await found : found;
      const taken = caller ? limiter.take(caller.keyId, caller.limits) : takeFromAddress(arrival);
      verdict = taken instanceof Promise ? await taken : taken;
      if (verdict.outcome !== "admitted") answer = denial(verdict);
      else if (caller) {
        const operated = operate(arrival, requestId, caller, head);
        answer = operated instanceof Promise ? await operated : operated;
      } else if (!isHostValid) answer = errorAnswer("invalid_request", hostRule);
      else if (request.method === "OPTIONS") answer = optionsAnswer(arrival.route);
      else answer = unauthorized(authorization !== null);
    } catch (error) {
      answer = answerFor(error, requestId, (bug) =>
        log("bug", { requestId, error: bug instanceof Error ? bug.stack : String(bug) }),
      );
    }
    // A failure before the limit was known still needs its headers: what a known caller had left
    // last, or what the address has.
    if (!verdict) {
      caller ??= recall(keyring, authorization);
      verdict = caller
        ? limiter.recall(caller.keyId, caller.limits)
        : addresses.take(arrival.address());
    }
    const headers = stamp(sheetFor(arrival, answer), verdict, requestId);
    const response = new Response(answer.body, { status: answer.status, headers });
    if (parts.isStopping()) response.headers.set("Connection", "close");
    return response;
  };
}

/** What every answer on a path says, whatever became of the request. */
function fixedHeaders(
  route: Route | undefined,
  operation: Operation | undefined,
): Record<string, string> {
  const headers: Record<string, string> = { "Content-Type": "application/json", ...route?.headers };
  if (operation && operation.stability !== "stable") headers["X-Stability"] = operation.stability;
  // Caches may keep what was read, and must ask before they use it. Refusals say otherwise.
  if (operation?.method === "GET") headers["Cache-Control"] = "no-cache";
  return headers;
}

const bearer = /^Bearer +([!-~]+) *$/i;

function identify(keyring: Keyring, authorization: string | null) {
  const text = keyTextIn(authorization);
  return text === undefined ? undefined : keyring.identify(text);
}

function recall(keyring: Keyring, authorization: string | null): Caller | undefined {
  const text = keyTextIn(authorization);
  return text === undefined ? undefined : keyring.recall(text);
}

function keyTextIn(authorization: string | null): string | undefined {
  return authorization === null ? undefined : bearer.exec(authorization)?.[1];
}

const challenge = 'Bearer realm="petstore"';

/** The same for every kind of bad key, so that nothing can be learnt from the answer. */
function unauthorized(keySent: boolean): Answer {
  return errorAnswer(
    "unauthorized",
    "The API key is missing or invalid; send it as 'Authorization: Bearer <API_KEY>'.",
    { "WWW-Authenticate": keySent ? `${challenge}, error="invalid_token"` : challenge },
  );
}

/** RFC 6750 3.1: the key is good, and this is the scope it would need. */
function insufficientScope(scope: Scope): Answer {
  return errorAnswer("insufficient_scope", `This API key lacks the scope ${scope}.`, {
    "WWW-Authenticate": `${challenge}, error="insufficient_scope", scope="${scope}"`,
  });
}

function methodNotAllowed(route: Route): Answer {
  return errorAnswer("method_not_allowed", `Only ${route.allow} are possible here.`, {
    Allow: route.allow,
  });
}

function optionsAnswer(route: Route | undefined): Answer {
  if (!route) throw new Refusal("not_found", nothingHere);
  return { status: 204, body: null, headers: { Allow: route.allow } };
}

// Random per process, counted within it: unique, and no system call on the way of a request.
const processId = `req_${randomBytes(6).toString("hex")}_`;
let requests = 0;

function nextRequestId(): string {
  requests += 1;
  return `${processId}${requests}`;
}
