// Opens the parts of the service in this process, with metrics, and measures those that every request
// needs.
import { openShop } from "../../src/compose/shop.ts";
import { serveSurfaces } from "../../src/compose/surfaces.ts";
import { authenticate, createTables } from "../../src/compose/tables.ts";
import { readConfig } from "../../src/config.ts";
import type { Caller } from "../../src/domain/keys/keys.ts";
import { createHeadWatcher } from "../../src/domain/ledger/head.ts";
import { followTail } from "../../src/domain/ledger/tail.ts";
import type { LimitDecision } from "../../src/domain/limits/limits.ts";
import { monotonicMs } from "../../src/domain/running/background.ts";
import { createUsageRecorder } from "../../src/domain/usage/usage-recorder.ts";
import { fillTemplate } from "../../src/http/messages/headers.ts";
import type { Reply } from "../../src/http/messages/reply.ts";
import { type IncomingRequest, nextRequestId } from "../../src/http/messages/requests.ts";
import type { Context } from "../../src/http/pipeline/context.ts";
import { createObservation } from "../../src/http/pipeline/observe.ts";
import type { Call, Connections } from "../../src/http/pipeline/operation.ts";
import { routesOf } from "../../src/http/pipeline/routes.ts";
import { createRegistry } from "../../src/metrics/registry.ts";
import { createRequestMetrics } from "../../src/metrics/requests.ts";
import { metrics } from "../../src/metrics/table.ts";
import { openEngine, systemClock } from "../../src/opening/engines.ts";
import { createBareHandlers } from "./bare.ts";
import { costOf } from "./cost.ts";

/** The operation to measure, and a store that the service has just served. */
export interface Job {
  readonly kind: "update" | "read";
  readonly database: string;
  readonly key: string;
}

/** CPU time in microseconds, by part. */
export type Costs = Record<string, number>;

const log = () => {};
const connections: Connections = {
  addressOf: () => "127.0.0.1",
  setIdleTimeout: () => {},
  origin: { isSecure: () => false, hostOf: () => null },
};

export type OpenService = Awaited<ReturnType<typeof openService>>;

export async function openService({ kind, database, key }: Job, opened: AsyncDisposableStack) {
  const options = { config: readConfig({ database }, {}), clock: systemClock, log };
  const engine = await openEngine(options, opened);
  const { store } = engine;
  const head = createHeadWatcher(store.inventory, log);
  opened.defer(head.stop);
  // Neither operation uses the other parts of the context.
  const context = (await openShop(options, store, head, engine, [])) as Context;
  opened.defer((await followTail(store, head, log)).stop);
  const usage = createUsageRecorder(store.usageHistory, systemClock, log);
  opened.defer(usage.stop);
  const surface = authenticate(createTables(options), options, store, head, opened)[0]!;
  const id = kind === "update" ? "updateInventory" : "listInventory";
  const routed = routesOf(surface).flatMap(({ operations }) => [...operations.values()]);
  const operation = routed.find((one) => one.id === id)!;
  const requestAt = (at: number) => makeRequest(kind, key, at);
  const { authenticator } = surface;
  const caller = (await authenticator.identify(requestAt(0), connections.origin)) as Caller;
  const counter = createRequestMetrics(createRegistry(Object.values(metrics)), [id]);
  const observers = { observers: [], counter };
  /** The pipeline with an operation that always has this reply. */
  const servePipeline = (reply: Reply) => {
    const operations = [{ ...operation, handle: () => reply }];
    const { signal } = new AbortController();
    const surfaces = [{ ...surface, operations }];
    return serveSurfaces(surfaces, options, engine, context, observers, usage, signal)[0]!;
  };
  const callAt = (at: number): Call => ({
    ...{ request: requestAt(at), requestId: nextRequestId(), caller, operation },
    ...{ authenticator, origin: connections.origin, connections, trace: undefined },
    head: head.cachedHead(),
    runPart: () => Promise.reject(),
  });
  const observation = createObservation(observers, monotonicMs, log);
  return { kind, options, engine, context, head, observation, servePipeline, callAt, requestAt };
}

function makeRequest(kind: Job["kind"], key: string, at: number): IncomingRequest {
  const headers: Record<string, string> = {
    host: "127.0.0.1:8080",
    authorization: `Bearer ${key}`,
  };
  const url = "http://127.0.0.1:8080/v1/inventory";
  if (kind === "read") return new Request(url, { headers });
  const body = `{"quantity":${1000 + (at % 9000)}}`;
  headers["content-type"] = "application/json";
  headers["content-length"] = String(body.length);
  const petId = String(1 + (at % 1000));
  const request = new Request(`${url}/${petId}`, { method: "PATCH", headers, body });
  return Object.assign(request, { params: { petId } });
}

/** The parts of both operations. `bare` is the handler of the bare server. */
export async function costsOfPipeline(service: OpenService, reply: Reply): Promise<Costs> {
  const { kind, engine, observation, requestAt, callAt } = service;
  const { caller, operation, authenticator, origin } = callAt(0);
  const take = () => engine.limiter.take(caller.keyId, caller.limits) as LimitDecision;
  const template = reply.template ?? operation.taggedTemplate;
  const respond = (decision: LimitDecision) => {
    const headers = fillTemplate(template, decision, nextRequestId(), reply.etag);
    return new Response(reply.body, { status: reply.status, headers });
  };
  const observe = ({ request, requestId }: Call) => {
    const startedMs = observation.begin();
    const trace = observation.beginTrace(request.headers);
    observation.end({ startedMs, requestId, request, operation, caller, reply, trace });
  };
  const { pipeline, routes } = service.servePipeline(reply);
  const routedAt = (at: number) => ({ request: requestAt(at), route: routes[0], connections });
  const { status } = await pipeline(routedAt(0));
  if (status !== 200) throw new Error(`The pipeline responds with status ${status}.`);
  const body = reply.body instanceof Blob ? reply.body : new Blob();
  const bare = createBareHandlers(body, template.headers)[kind];
  const parts = {
    authentication: await costOf(requestAt, (request) => authenticator.identify(request, origin)),
    limiter: await costOf(Number, take),
    observation: await costOf(callAt, observe),
    response: await costOf(take, respond),
  };
  const whole = await costOf(routedAt, pipeline);
  const inside = Object.values(parts).reduce((sum, cost) => sum + cost, 0);
  return { ...parts, pipeline: whole - inside, bare: await costOf(requestAt, bare) };
}

/** The operation of a read, with a list that does not change. */
export async function costsOfRead(service: OpenService): Promise<Costs> {
  const { context, callAt } = service;
  const handle = (call: Call) => call.operation.handle(context, call);
  const costs = await costsOfPipeline(service, await handle(callAt(0)));
  return { ...costs, list: await costOf(callAt, handle) };
}
