/** What to do with one request. */
export type Script = (request: Request) => Response | Promise<Response>;

export interface Received {
  readonly path: string;
  readonly headers: Headers;
}

export const apiKey = "psk_test_scripted";

/**
 * A server that does what no healthy service does: fails, hangs, or answers nonsense, on demand. It
 * follows its scripts, one request each, and answers an empty list once they are played.
 */
export class ScriptedServer {
  readonly received: Received[] = [];
  readonly #scripts: Script[] = [];
  readonly #server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      this.received.push({ path: pathname + search, headers: request.headers });
      return this.#scripts.shift()?.(request) ?? new Response("[]");
    },
  });

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#server.port}/v1`;
  }

  /** Queues what to do with the next requests, one each. */
  play(...scripts: Script[]): void {
    this.#scripts.push(...scripts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}

export function refuse(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ code, message, status }, { status, headers });
}
