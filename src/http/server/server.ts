import { isIPv6 } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { BunRequest, Server } from "bun";
import type { Network } from "../../domain/values/networks.ts";
import { createAddressReader } from "../messages/client-address.ts";
import { internalError } from "../messages/error-messages.ts";
import { errorReply } from "../messages/errors.ts";
import { missingPath } from "../messages/paths.ts";
import { createPublicOrigin } from "../messages/public-origin.ts";
import { type Page, type Pages, readPage, toResponse, withValidHost } from "../pages/pages.ts";
import type { Connections } from "../pipeline/operation.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { AddressLimiter } from "../pipeline/rate-limits.ts";
import type { Route } from "../pipeline/routes.ts";
import type { Certificate } from "../tls/certificate.ts";
import { innerHost, startTlsFront, type TlsFront } from "../tls/front.ts";

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly bodyBytesBackstop: number;
  readonly importBytesMax: number;
  readonly idleTimeoutSeconds: number;
  readonly trustedProxies: readonly Network[];
}

export interface Health {
  isReady(): Promise<boolean>;
  /** Aborted when the service begins to stop. Every response then has `Connection: close`. */
  readonly stopping: AbortSignal;
}

/** A surface with the pipeline that handles its requests. */
export interface ServedSurface {
  readonly basePath: string;
  readonly routes: readonly Route[];
  readonly pipeline: Pipeline;
}

export interface Served {
  readonly surfaces: readonly ServedSurface[];
  /** Resources outside the surfaces. */
  readonly pages: Pages;
  readonly pageLimiter: Pick<AddressLimiter, "take">;
  readonly health: Health;
}

/**
 * Connects pipelines and pages to Bun's HTTP server and router. With a certificate, the server
 * listens on this machine only, behind a listener for TLS.
 */
export async function startServer(
  served: Served,
  options: ServerOptions,
  certificate?: Certificate,
) {
  const { surfaces, pages, pageLimiter, health } = served;
  const readAddress = createAddressReader(options.trustedProxies);
  let front: TlsFront | undefined;
  const socketAddressOf = (request: Request): string | undefined => {
    const peer = server.requestIP(request);
    return certificate ? front?.findClient(peer) : peer?.address;
  };
  const addressOf = (request: Request): string =>
    readAddress(socketAddressOf(request) ?? "unknown", request.headers);
  const isTls = certificate !== undefined;
  const origin = createPublicOrigin(options.trustedProxies, isTls, socketAddressOf);
  const connections: Connections = {
    addressOf,
    setIdleTimeout: (request, seconds) => server.timeout(request, seconds),
    origin,
  };
  const paths = [
    ...surfaces.flatMap(({ routes }) => routes.map(({ pattern }) => pattern)),
    ...Object.keys(pages),
    ...["/healthz", "/readyz"],
  ];
  let arrived = 0;

  /** With a certificate, rejects requests of local programs that did not arrive by TLS. */
  const secured = <R extends Request>(handle: (request: R) => Promise<Response>) =>
    certificate
      ? async (request: R) =>
          socketAddressOf(request) === undefined ? withoutTls() : handle(request)
      : handle;

  const handler = ({ pipeline }: ServedSurface, route: Route | undefined) =>
    secured((request: BunRequest) => {
      arrived += 1;
      return pipeline({ request, route, connections });
    });
  /** One handler per path for all methods: with a map by method, Bun would answer HEAD itself. */
  const handlersOf = (surface: ServedSurface) => [
    // First, so that a surface can have an operation at its base path.
    [surface.basePath, handler(surface, undefined)] as const,
    [`${surface.basePath}/*`, handler(surface, undefined)] as const,
    ...surface.routes.map((route) => [route.pattern, handler(surface, route)] as const),
  ];
  /** Pages have the same rules for the Host header and for stopping. */
  const outside = (page: Page) =>
    secured(async (request: Request) => {
      const response = await withValidHost(page)(request, origin);
      if (health.stopping.aborted) response.headers.set("Connection", "close");
      return response;
    });
  const limited = (page: Page) =>
    outside((request) => readPage(page, request, pageLimiter, connections));

  const server: Server<undefined> = Bun.serve({
    // In development mode Bun publishes its version and the machine's kernel at /bun:info.
    development: false,
    // Otherwise Bun shares a port that another process already listens on.
    reusePort: false,
    hostname: certificate ? innerHost : options.host,
    port: certificate ? 0 : options.port,
    // Bun discards the bytes of a body that no operation reads, and it reads no more than operations
    // take. So a larger limit for imports does not cost memory.
    maxRequestBodySize: options.importBytesMax + options.bodyBytesBackstop,
    idleTimeout: options.idleTimeoutSeconds,
    routes: {
      // The router reads the path as it was sent. Code behind it must not parse request.url: with
      // an invalid Host header it is not a URL.
      ...Object.fromEntries(surfaces.flatMap(handlersOf)),
      ...Object.fromEntries(Object.entries(pages).map(([path, page]) => [path, limited(page)])),
      "/healthz": outside(() => json(200, { status: "ok" })),
      "/readyz": outside(async () => readiness(await health.isReady())),
    },
    fetch: outside(({ url }) =>
      toResponse(errorReply("not_found", missingPath(url, paths, surfaces[0]?.basePath))),
    ),
    error: () => toResponse(errorReply("internal_error", internalError())),
  });
  if (certificate) {
    const starting = startTlsFront(certificate, { ...options, innerPort: server.port! });
    front = await starting.catch(async (error) => {
      await server.stop(true);
      throw error;
    });
  }

  return {
    url: front ? httpsUrl(options.host, front.port) : server.url,
    /**
     * Handles the requests that have arrived and those that still arrive, and sends
     * `Connection: close` with each response. Listens for `drainMs`, and then until no request
     * arrives. Requests in progress after that have at most `graceMs`.
     */
    async stop(drainMs: number, graceMs: number): Promise<void> {
      await sleep(drainMs);
      await stopListening(server, front, () => arrived, graceMs);
    },
  };
}

async function stopListening(
  server: Server<undefined>,
  front: TlsFront | undefined,
  arrived: () => number,
  graceMs: number,
): Promise<void> {
  // Bun's stop closes every idle connection at once, even one whose next request is unread in the
  // kernel. By now busy connections have been closed with a response.
  await untilQuiet(arrived);
  if (front) {
    front.stopListening();
    // Connections that were accepted last may still be in their handshake.
    await untilQuiet(arrived);
  }
  const finished = server.stop();
  const late = new Promise((resolve) => setTimeout(resolve, graceMs).unref());
  await Promise.race([finished, late]);
  await server.stop(true);
  front?.close();
}

function httpsUrl(host: string, port: number): URL {
  return new URL(`https://${isIPv6(host) ? `[${host}]` : host}:${port}`);
}

function readiness(isReady: boolean): Response {
  return isReady ? json(200, { status: "ready" }) : json(503, { status: "unavailable" });
}

function withoutTls(): Response {
  return new Response(null, { status: 421, headers: { Connection: "close" } });
}

/** If no request arrives within this time after the signal, no client is busy. */
const firstQuietMs = 10;
/** Later, this time without a request means that busy clients have received `Connection: close`. */
const quietMs = 100;
/** Limits the wait for clients that connect again after `Connection: close`. */
const quietWaitMsMax = 1_000;

/** Waits until no more requests arrive. */
async function untilQuiet(arrived: () => number): Promise<void> {
  const deadline = performance.now() + quietWaitMsMax;
  let before: number;
  let waitMs = firstQuietMs;
  do {
    before = arrived();
    await sleep(waitMs);
    // If the process was paused meanwhile, one more turn of the event loop reads what has arrived.
    await sleep(1);
    waitMs = quietMs;
  } while (arrived() !== before && performance.now() < deadline);
}

function json(status: number, body: unknown): Response {
  return Response.json(body, { status, headers: { "Cache-Control": "no-store" } });
}
