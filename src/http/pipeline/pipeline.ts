import type { Caller } from "../../domain/keys/keys.ts";
import type { Head } from "../../domain/ledger/store.ts";
import type { LimitDecision, Limiter } from "../../domain/limits/limits.ts";
import type { MaybePromise, Trace } from "../../domain/running/clock.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { UsageRecorder } from "../../domain/usage/usage-recorder.ts";
import {
  invalidHost,
  methodNotAllowed,
  operationGone,
  pathNotFound,
} from "../messages/error-messages.ts";
import { errorReply, replyFor } from "../messages/errors.ts";
import { rejectUnknownParameters } from "../messages/fields.ts";
import { createTemplate, fillTemplate, type HeaderTemplate } from "../messages/headers.ts";
import { missingPath } from "../messages/paths.ts";
import type { Reply } from "../messages/reply.ts";
import {
  hasValidHost,
  type IncomingRequest,
  nextRequestId,
  untilAccepted,
} from "../messages/requests.ts";
import type { Context } from "./context.ts";
import type { Cors } from "./cors.ts";
import type { Observation } from "./observe.ts";
import type { Connections, RoutedOperation } from "./operation.ts";
import { type AddressLimiter, rateLimitError } from "./rate-limits.ts";
import { jsonHeaders, type Route } from "./routes.ts";
import type { Surface } from "./surface.ts";

export interface PipelineParts {
  readonly context: Context;
  readonly limiter: Limiter;
  /** Limits requests without valid credentials, unless the surface has its own limiter. */
  readonly addresses: AddressLimiter;
  readonly cors: Cors | undefined;
  readonly observation: Observation;
  /** Counts requests for the charts of the operator. */
  readonly usage: Pick<UsageRecorder, "count">;
  /** True while the service stops. Every response then has `Connection: close`. */
  readonly stopping: AbortSignal;
}

/** A request from the HTTP server, with the route that its path matches. */
export interface RoutedRequest {
  readonly request: IncomingRequest;
  readonly route: Route | undefined;
  readonly connections: Connections;
}

export type Pipeline = (routed: RoutedRequest) => Promise<Response>;

/**
 * Handles every request to one surface, in this order: Host, authentication, rate limit, route,
 * scope, sunset, unknown parameters, operation, headers, observation. Unknown paths and methods take
 * the same steps, so a client without a key learns nothing about them.
 */
export function createPipeline(surface: Surface, parts: PipelineParts): Pipeline {
  const { authenticator, addresses = parts.addresses } = surface;
  const { context, limiter, observation, usage } = parts;
  const cors = surface.isSameOriginOnly ? undefined : parts.cors;
  const paths = surface.operations.map(({ path }) => surface.basePath + path);
  const operating: Operating = { context, authenticator, paths, run };
  const headersElsewhere = { ...jsonHeaders, ...surface.headers };

  /**
   * Preflights are not counted. Browsers send them before requests with a valid key, and rejecting
   * one costs as much as answering it.
   */
  function takeFromAddress({ request, route, connections }: RoutedRequest): LimitDecision {
    const address = connections.addressOf(request);
    surface.refused?.(request, address);
    return cors?.isPreflight(request, route) ? addresses.peek(address) : addresses.take(address);
  }

  /** The limits to report when a request failed before it was counted. */
  function lastKnownLimits(
    { request, connections }: RoutedRequest,
    caller: Caller | undefined,
  ): LimitDecision {
    const known = caller ?? authenticator.lastKnownCaller(request, connections.origin);
    return known
      ? limiter.lastKnown(known.keyId, known.limits)
      : addresses.take(connections.addressOf(request));
  }

  function respond(
    routed: RoutedRequest,
    operation: RoutedOperation | undefined,
    requestId: string,
    caller: Caller | undefined,
    decision: LimitDecision | undefined,
    reply: Reply,
  ): Response {
    const limits = (!reply.hasParts && decision) || lastKnownLimits(routed, caller);
    const template = templateFor(cors, headersElsewhere, routed, operation, reply);
    const headers = fillTemplate(template, limits, requestId, reply.etag);
    return new Response(reply.body, { status: reply.status, headers });
  }

  /** Handles a request, or the `part` of one. The first part was counted with its request. */
  async function run(routed: RoutedRequest, part?: RoutedOperation, isCounted = false) {
    const startedMs = observation.begin();
    const { request, route, connections } = routed;
    const trace = observation.beginTrace(request.headers);
    const operation = part ?? route?.operations.get(request.method);
    const requestId = nextRequestId();
    let caller: Caller | undefined;
    let decision: LimitDecision | undefined;
    let reply: Reply;
    try {
      const head = context.head.cachedHead();
      const isHostValid = hasValidHost(request.headers);
      const isAnonymous = request.method === "OPTIONS" || !isHostValid;
      const found = isAnonymous ? undefined : authenticator.identify(request, connections.origin);
      caller = found instanceof Promise ? await found : found;
      const limitedMs = trace ? performance.now() : 0;
      const count = isCounted ? limiter.lastKnown : limiter.take;
      const taken = caller ? count(caller.keyId, caller.limits) : takeFromAddress(routed);
      decision = taken instanceof Promise ? await taken : taken;
      if (!isCounted) usage.count(caller?.keyId, decision);
      trace?.span("limit", limitedMs, performance.now());
      if (decision.outcome !== "admitted") reply = rateLimitError(decision);
      else if (caller) {
        const operated = operate(operating, routed, operation, requestId, caller, head, trace);
        reply = operated instanceof Promise ? await operated : operated;
      } else if (!isHostValid) reply = errorReply("invalid_request", invalidHost);
      else if (request.method === "OPTIONS") reply = optionsReply(route);
      else reply = authenticator.unauthorized(request);
    } catch (error) {
      reply = replyFor(error, requestId);
    }
    let response: Response;
    try {
      response = respond(routed, operation, requestId, caller, decision, reply);
    } catch (bug) {
      // An invalid reply. The server sends its 500.
      const sent = { ...errorReply("internal_error", ""), failure: bug };
      observation.end({ startedMs, requestId, request, operation, caller, reply: sent, trace });
      throw bug;
    }
    if (reply.idleTimeoutSeconds !== undefined) {
      connections.setIdleTimeout(request, reply.idleTimeoutSeconds);
    }
    if (parts.stopping.aborted) response.headers.set("Connection", "close");
    if (observation.isMeasuring || reply.errorCode !== undefined) {
      observation.end({ startedMs, requestId, request, operation, caller, reply, trace });
    }
    return response;
  }

  return run;
}

/** What operations need of their surface. */
interface Operating extends Pick<PipelineParts, "context">, Pick<Surface, "authenticator"> {
  /** The paths of all operations. */
  readonly paths: readonly string[];
  run(routed: RoutedRequest, part: RoutedOperation, isCounted: boolean): Promise<Response>;
}

/** Runs the operation of a request, after the checks that depend on its route. */
function operate(
  { context, authenticator, paths, run }: Operating,
  routed: RoutedRequest,
  operation: RoutedOperation | undefined,
  requestId: string,
  caller: Caller,
  head: Head | undefined,
  trace: Trace | undefined,
): MaybePromise<Reply> {
  const { request, route, connections } = routed;
  if (!route) throw new ServiceError("not_found", missingPath(request.url, paths));
  if (!operation) return methodError(route);
  const { scope, deprecation } = operation;
  if (scope !== undefined && !caller.scopes.includes(scope))
    return authenticator.insufficientScope(scope);
  if (deprecation && context.clock.now() >= deprecation.sunsetAt) {
    throw new ServiceError("gone", operationGone);
  }
  if (operation.known) rejectUnknownParameters(request, operation.known);
  const call = {
    request,
    requestId,
    caller,
    authenticator,
    origin: connections.origin,
    operation,
    head,
    trace,
    connections,
    runPart: (handle: RoutedOperation["handle"], isFirst: boolean) =>
      run(routed, { ...operation, handle }, isFirst),
  };
  // A body is read until the parser has accepted its end (src/http/messages/requests.ts). Operations
  // without one wait here.
  if (operation.method === "GET" || operation.body) return operation.handle(context, call);
  return untilAccepted(request).then(() => operation.handle(context, call));
}

function templateFor(
  cors: Cors | undefined,
  headersElsewhere: Readonly<Record<string, string>>,
  { request, route }: RoutedRequest,
  operation: RoutedOperation | undefined,
  reply: Reply,
): HeaderTemplate {
  if (!cors && reply.template) return reply.template;
  if (!cors && !reply.headers && operation) {
    return reply.etag === undefined ? operation.defaultTemplate : operation.taggedTemplate;
  }
  const template = createTemplate(operation?.headers ?? route?.headers ?? headersElsewhere);
  const { headers } = template;
  if (reply.status === 204 || reply.status === 304) headers.delete("Content-Type");
  for (const [name, value] of reply.template?.headers ?? []) headers.set(name, value);
  for (const [name, value] of Object.entries(reply.headers ?? {})) headers.set(name, value);
  // Appended: a response may vary by Origin and by another header.
  for (const [name, value] of Object.entries(cors?.headersFor(request, route) ?? {})) {
    headers.append(name, value);
  }
  return template;
}

function methodError({ allow }: Route): Reply {
  return errorReply("method_not_allowed", methodNotAllowed(allow), { Allow: allow });
}

function optionsReply(route: Route | undefined): Reply {
  if (!route) throw new ServiceError("not_found", pathNotFound);
  return { status: 204, body: null, headers: { Allow: route.allow } };
}
