import { type BodyReader, createBodyReader, type Framing } from "./bodies.ts";
import { AttemptFailure } from "./failures.ts";

export interface ReceiverResponse {
  readonly status: number;
  /** The header Retry-After, as it was sent. */
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** Reads one response of HTTP/1.1 as it arrives. */
export interface ResponseReader {
  /** Returns true once it needs no more bytes. Throws AttemptFailure if this is not a response. */
  push(bytes: Buffer): boolean;
  /**
   * The response, once its head is complete. It counts even if the body never ends or is cut off,
   * because the receiver has decided by then.
   */
  response(): ReceiverResponse | undefined;
}

const start = "HTTP/1.";
const headBytesMax = 16 * 1024;
/** Head and body together. */
const responseBytesMax = 64 * 1024;

export function createResponseReader(): ResponseReader {
  let isComplete = false;
  let bytesRead = 0;
  let received = "";
  let head: Head | undefined;
  let body: BodyReader | undefined;

  function pushHead(bytes: Buffer): boolean {
    // latin1 keeps every byte, so that the beginning of the body can be taken from the text.
    received += bytes.toString("latin1");
    if (!start.startsWith(received.slice(0, start.length))) throw notHttp();
    const end = /\r?\n\r?\n/.exec(received);
    const length = end ? end.index + end[0].length : received.length;
    if (bytesRead - received.length + length > headBytesMax) {
      throw new AttemptFailure("the response headers exceed 16 KiB");
    }
    if (!end) return false;
    const rest = Buffer.from(received.slice(length), "latin1");
    const parsed = parseHead(received.slice(0, end.index));
    received = "";
    // Another response follows a 1xx, except 101, which is the last one.
    if (parsed.status < 200 && parsed.status !== 101) return pushHead(rest);
    head = parsed;
    body = createBodyReader(parsed.framing);
    return body.push(rest) || parsed.framing === 0;
  }

  return {
    push(bytes) {
      if (isComplete) return true;
      const taken = bytes.subarray(0, responseBytesMax - bytesRead);
      bytesRead += taken.length;
      const isEnd = body ? body.push(taken) : pushHead(taken);
      isComplete = isEnd || bytesRead >= responseBytesMax;
      return isComplete;
    },
    response: () => head && { ...head, text: body?.text() ?? "" },
  };
}

interface Head {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly framing: Framing;
}

function parseHead(text: string): Head {
  const [statusLine = "", ...lines] = text.split(/\r?\n/);
  const [, digits] = /^HTTP\/1\.[01] ([1-5][0-9]{2})(?: |$)/.exec(statusLine) ?? [];
  if (!digits) throw notHttp();
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
  const status = Number(digits);
  return { status, retryAfter: headers.get("retry-after"), framing: framingOf(status, headers) };
}

function framingOf(status: number, headers: ReadonlyMap<string, string>): Framing {
  if (status < 200 || status === 204 || status === 304) return 0;
  const codings = headers.get("transfer-encoding")?.toLowerCase().split(",");
  if (codings) return codings.at(-1)!.trim() === "chunked" ? "chunked" : Infinity;
  const length = headers.get("content-length") ?? "";
  return /^[0-9]+$/.test(length) ? Number(length) : Infinity;
}

function notHttp(): AttemptFailure {
  return new AttemptFailure("the response is not HTTP/1.1");
}

const httpDate = /^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;

/** Converts Retry-After to a duration: seconds, or a date as RFC 9110 says to send it. */
export function parseRetryAfter(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  if (/^[0-9]+$/.test(text)) return Math.min(Number(text) * 1_000, Number.MAX_SAFE_INTEGER);
  const time = httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : Math.max(0, time - now);
}
