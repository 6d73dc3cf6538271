import type { Handler } from "./scripted-server.ts";

/** One connection to the feed, on which a test sends what it likes. */
export class ScriptedFeed {
  readonly #opened = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  readonly #closed = Promise.withResolvers<void>();

  /** Responds to one request with this connection. */
  readonly handler: Handler = (request) => {
    request.signal.addEventListener("abort", () => this.#closed.resolve());
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => this.#opened.resolve(controller),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };

  async send(...events: string[]): Promise<void> {
    (await this.#opened.promise).enqueue(new TextEncoder().encode(events.join("")));
  }

  /** Ends the response, as a service that stops does. */
  async end(): Promise<void> {
    (await this.#opened.promise).close();
  }

  /** Resolves when the client has closed the connection. */
  waitUntilClosed(): Promise<void> {
    return this.#closed.promise;
  }
}

/** A connection that sends these events and ends. */
export function shortFeed(...events: string[]): Handler {
  return () => new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
}

export const highestPetId = 9_223_372_036_854_775_807n;

export function changeEvent(seq: number, history = "a"): string {
  const row = `{"seq":${seq},"petId":${highestPetId},"before":null,"after":{"quantity":${seq},"status":"sold"},"cause":"api","keyId":"k","keyName":null,"reason":"é","requestId":null,"at":"2026-11-15T10:00:00.000Z"}`;
  return `id: ${history}-${seq}\nevent: change\ndata: ${row}\n\n`;
}

export function positionEvent(type: "heartbeat" | "reset", seq: number, history = "a"): string {
  return `id: ${history}-${seq}\nevent: ${type}\ndata: {"seq":${seq}}\n\n`;
}

/** Makes the client reconnect quickly. */
export const retrySoon = "retry: 1\n\n";
