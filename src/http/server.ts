import { setTimeout as sleep } from "node:timers/promises";
import type { BunRequest, Server } from "bun";
import { createAddressReader } from "./client-address.ts";
import { errorAnswer, nothingHere } from "./errors.ts";
import {
  type Page,
  type PageCount,
  type Pages,
  readPage,
  toResponse,
  withValidHost,
} from "./pages.ts";
import type { Pipeline } from "./pipeline.ts";
import { basePath, type Route } from "./routes.ts";

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly bodyBytesBackstop: number;
  readonly idleTimeoutSeconds: number;
  readonly trustedProxies: readonly string[];
}

export interface RunningServer {
  readonly url: URL;
  /**
   * Answers what has arrived and what still arrives, each answer with `Connection: close`. The
   * listener stays open for `drainMs`, and then until clients fall silent. Requests in flight after
   * that get at most `graceMs`.
   */
  stop(drainMs: number, graceMs: number): Promise<void>;
}

/** What the service says of itself. */
export interface Health {
  isReady(): Promise<boolean>;
  /** True once a stop was asked for: every answer then tells its client to close. */
  isStopping(): boolean;
}

/** What the server serves: the API, by its routes, and pages outside it, by path. */
export interface Served {
  readonly pipeline: Pipeline;
  readonly routes: readonly Route[];
  readonly pages: Pages;
  readonly pageCount: PageCount;
  readonly health: Health;
}

/** Puts the pipeline behind Bun's own HTTP server and router: the only file that knows them. */
export function startServer(served: Served, options: ServerOptions): RunningServer {
  const { pipeline, routes, pages, pageCount, health } = served;
  const readAddress = createAddressReader(options.trustedProxies);
  const addressOf = (request: Request): string =>
    readAddress(server.requestIP(request)?.address ?? "unknown", request.headers);
  let arrived = 0;

  const handle = (route: Route | undefined) => (request: BunRequest) => {
    arrived += 1;
    return pipeline({ request, route, address: () => addressOf(request) });
  };
  const unknown = handle(undefined);
  /** What is outside the API keeps to the same rules about the Host and about stopping. */
  const outside = (page: Page) => async (request: Request) => {
    const response = await withValidHost(page)(request);
    if (health.isStopping()) response.headers.set("Connection", "close");
    return response;
  };
  const counted = (page: Page) =>
    outside((request) => readPage(page, request, pageCount, addressOf(request)));

  const server: Server<undefined> = Bun.serve({
    // Otherwise Bun tells anyone who asks at /bun:info its version and the machine's kernel.
    development: false,
    // And without it Bun would share a port that is taken, with whatever listens there.
    reusePort: false,
    hostname: options.host,
    port: options.port,
    maxRequestBodySize: options.bodyBytesBackstop,
    idleTimeout: options.idleTimeoutSeconds,
    routes: {
      // One handler a path for all methods: a map by method would answer HEAD by itself.
      ...Object.fromEntries(routes.map((route) => [route.pattern, handle(route)])),
      // The router sees the path as it was sent. Nothing here may parse request.url instead: a
      // Host header that is no host makes it no URL.
      [basePath]: unknown,
      [`${basePath}/*`]: unknown,
      ...Object.fromEntries(Object.entries(pages).map(([path, page]) => [path, counted(page)])),
      "/healthz": outside(() => json(200, { status: "ok" })),
      "/readyz": outside(async () =>
        (await health.isReady())
          ? json(200, { status: "ready" })
          : json(503, { status: "unavailable" }),
      ),
    },
    fetch: outside(() => toResponse(errorAnswer("not_found", nothingHere))),
    error: () => toResponse(errorAnswer("internal_error", "Something went wrong on our side.")),
  });

  return {
    url: server.url,
    async stop(drainMs, graceMs) {
      await sleep(drainMs);
      // Bun's stop closes every connection between two requests at once, even one whose next
      // request lies unread in the kernel. By now the busy ones have been closed with an answer.
      await untilSilent(() => arrived);
      const finished = server.stop();
      const late = new Promise((resolve) => setTimeout(resolve, graceMs).unref());
      await Promise.race([finished, late]);
      await server.stop(true);
    },
  };
}

/** If nothing arrives for so long right after the signal, no client is busy. */
const firstSilenceMs = 10;
/** Otherwise no request for so long means that the busy ones have been told to close. */
const silenceMs = 100;
/** Clients that come back although they were told to close are not waited for any longer. */
const silenceWaitMsMax = 1_000;

async function untilSilent(arrived: () => number): Promise<void> {
  const givenUpAt = performance.now() + silenceWaitMsMax;
  let before: number;
  let waitMs = firstSilenceMs;
  do {
    before = arrived();
    await sleep(waitMs);
    waitMs = silenceMs;
  } while (arrived() !== before && performance.now() < givenUpAt);
}

function json(status: number, body: unknown): Response {
  return Response.json(body, { status, headers: { "Cache-Control": "no-store" } });
}
