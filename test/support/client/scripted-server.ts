/** Responds to one request. */
export type Handler = (request: Request) => Response | Promise<Response>;

export interface ReceivedRequest {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers: Headers;
}

export const apiKey = "psk_test_scripted";

/**
 * A server for responses that the service does not send on request: errors, invalid bodies, no
 * response at all. Each queued handler responds to one request. Later requests get an empty list.
 */
export class ScriptedServer {
  readonly received: ReceivedRequest[] = [];
  readonly #handlers: Handler[] = [];
  readonly #server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    // Only the client closes a connection.
    idleTimeout: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      this.received.push({ method, path: pathname + search, headers });
      return this.#handlers.shift()?.(request) ?? new Response("[]");
    },
  });

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.port}/v1`;
  }

  /** Queues handlers for the next requests, one each. */
  enqueue(...handlers: Handler[]): void {
    this.#handlers.push(...handlers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}

export function errorResponse(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ code, message, status }, { status, headers });
}
