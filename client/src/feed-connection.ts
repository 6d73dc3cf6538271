import { attemptStream, type OpenResponse, reasonOf } from "./attempt.js";
import { unexpectedResponse } from "./body.js";
import type { AttemptPlan, Failure, Transport } from "./call.js";
import type { Clock } from "./clock.js";
import { NetworkError, TimeoutError } from "./errors.js";
import { EventStreamParser, type ServerSentEvent } from "./event-stream.js";
import type { RawResponse } from "./response.js";

/** An open connection to the feed. */
export interface FeedConnection {
  readonly response: RawResponse;
  /**
   * Reads the events until the connection ends, and throws a NetworkError then: the feed has no end.
   * Throws a TimeoutError if nothing arrives for `idleTimeoutMs`. Nothing is read while the caller
   * handles an event, so a slow caller slows the sender.
   */
  events(idleTimeoutMs: number): AsyncGenerator<ServerSentEvent, never, undefined>;
  /** How long the service asks to wait before the next connection. */
  readonly retryMs: number | undefined;
  /** Closes the connection. A pending read ends at once. */
  close(): void;
}

/** Opens the feed with one attempt. Throws the signal's reason or a hook's error. */
export async function openFeed(
  transport: Transport,
  plan: AttemptPlan,
): Promise<FeedConnection | Failure> {
  const response = await attemptStream(transport, plan);
  if ("error" in response) return response;
  const type = response.headers.get("content-type") ?? "none";
  if (response.body !== null && /^text\/event-stream\s*(;|$)/i.test(type)) {
    return connectionOf(response, response.body.getReader(), transport.settings.clock);
  }
  response.body?.cancel().catch(() => {});
  const error = unexpectedResponse(
    response,
    `The response is not a feed, but has the type ${type}`,
  );
  return { error, retryAfterMs: 0 };
}

function connectionOf(
  response: OpenResponse,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  clock: Clock,
): FeedConnection {
  const parser = new EventStreamParser();
  return {
    response,
    async *events(idleTimeoutMs) {
      for (;;) {
        const chunk = await readChunk(reader, clock, idleTimeoutMs);
        try {
          yield* parser.parse(chunk);
        } catch (cause) {
          if (!(cause instanceof RangeError)) throw cause;
          throw unexpectedResponse(response, `The feed is not readable: ${cause.message}`, cause);
        }
      }
    },
    get retryMs() {
      return parser.retryMs;
    },
    close: () => void reader.cancel().catch(() => {}),
  };
}

async function readChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  clock: Clock,
  idleTimeoutMs: number,
): Promise<Uint8Array> {
  const done = new AbortController();
  const timeout = clock.sleep(idleTimeoutMs, done.signal).then(() => "timeout" as const);
  try {
    const result = await Promise.race([reader.read(), timeout]);
    if (result === "timeout") throw new TimeoutError(`The feed was silent for ${idleTimeoutMs} ms`);
    if (result.done) throw new NetworkError("The connection to the feed ended");
    return result.value;
  } catch (cause) {
    if (cause instanceof NetworkError || cause instanceof TimeoutError) throw cause;
    throw new NetworkError(`The connection to the feed failed: ${reasonOf(cause)}`, { cause });
  } finally {
    done.abort();
  }
}
