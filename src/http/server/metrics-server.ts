import { isLoopback } from "../../domain/values/networks.ts";
import { methodNotAllowed, pathNotFound } from "../messages/error-messages.ts";

const path = "/metrics";
const idleSeconds = 120;

/**
 * Serves metrics on a port of their own, which is not reachable through the API, and returns their address.
 * Needs no key. `expose` returns the body of a response.
 */
export function startMetricsServer(
  host: string,
  port: number,
  contentType: string,
  expose: () => string,
) {
  const headers = { "Content-Type": contentType, "Cache-Control": "no-store" };
  const server = Bun.serve({
    development: false,
    reusePort: false,
    // Longer than usual between two scrapes, which share a connection.
    idleTimeout: idleSeconds,
    hostname: host,
    port,
    routes: {
      [path]: ({ method, headers: sent }) => {
        if (isLoopback(host) && !isLocalHost(sent.get("host") ?? host)) {
          return plain(421, "This port is for programs on this machine: use its address.");
        }
        // For HEAD, Bun sends only the headers.
        if (method === "GET" || method === "HEAD") return new Response(expose(), { headers });
        const allow = "GET, HEAD";
        return plain(405, methodNotAllowed(allow), { Allow: allow });
      },
    },
    fetch: () => plain(404, pathNotFound),
    error: () => plain(500, "The metrics cannot be read."),
  });
  return { url: new URL(path, server.url).href, stop: () => server.stop(true) };
}

/**
 * Whether a Host is an address or `localhost`. On a loopback address, a browser sends another name only if a
 * hostile page has made its own name lead here, to read the response.
 */
function isLocalHost(host: string): boolean {
  return /^(?:\[[0-9a-f:.]+\]|[0-9.]+|localhost)(?::[0-9]+)?$/i.test(host);
}

function plain(status: number, text: string, headers: Record<string, string> = {}): Response {
  const all = { "Content-Type": "text/plain; charset=utf-8", ...headers };
  return new Response(`${text}\n`, { status, headers: all });
}
