import { randomBytes } from "node:crypto";
import { invalidRequest, ServiceError, unavailable } from "../../domain/running/errors.ts";
import { parseInt64 } from "../../domain/values/int64.ts";
import * as messages from "./error-messages.ts";

/** A request from Bun's router, with its path parameters. */
export type IncomingRequest = Request & { readonly params?: Readonly<Record<string, string>> };

export const petIdRule =
  "Path parameter 'petId' must be a 64-bit integer in decimal digits, without leading zeros.";

/** Reads a parameter of the path. */
export function readPetId(text = ""): bigint {
  const petId = parseInt64(text);
  if (petId === undefined) throw invalidRequest(petIdRule);
  return petId;
}

// Random per process and counted within it: unique without a system call per request.
const processId = `req_${randomBytes(6).toString("hex")}_`;
let requests = 0;

export function nextRequestId(): string {
  requests += 1;
  return `${processId}${requests}`;
}

/**
 * RFC 9110 7.2: a name or an address, and optionally a port. Bun joins two Host lines with a comma
 * and a space, and a host cannot contain a space.
 */
const hostPattern = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*)(?::[0-9]*)?$/i;

/** Most requests have the same Host, so the last valid one is compared before parsing. */
let lastValid = "";

/** RFC 9112 3.2: a server must reject a request with more than one Host or an invalid one. */
export function hasValidHost(headers: Headers): boolean {
  const host = headers.get("host");
  // HTTP/1.0 does not require a Host. From HTTP/1.1 on, Bun's parser does.
  if (host === lastValid || host === null) return true;
  if (!hostPattern.test(host)) return false;
  lastValid = host;
  return true;
}

export const jsonTypes = ["application/json"] as const;

/** JSON, and JSON as RFC 7396 names it in a PATCH. */
export const mergePatchTypes = ["application/json", "application/merge-patch+json"] as const;

export interface BodyRule {
  /** The values of `Content-Type` that are accepted, in lower case. */
  readonly mediaTypes: readonly string[];
  readonly bytesMax: number;
  /** Whether the operation can do without a body. */
  readonly isOptional?: true;
}

/** What a reader needs to know of an operation. */
interface Reading {
  readonly id: string;
  readonly body?: BodyRule;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The request body is compressed. Compressed bodies are not supported. */
export class UnsupportedEncoding extends ServiceError {
  constructor() {
    super("unsupported_media_type", messages.compressedBody);
  }
}

/**
 * Bodies must arrive within this time. A client that trickles could otherwise hold any number of them, each
 * for days. The rate limit of a key then also bounds how many of its bodies are under way.
 */
const textMsMax = 60_000;
const fileMsMax = 600_000;

/**
 * Reads the text of a JSON body. The operation's rule gives its media types and its size. Returns an empty
 * string if there is none, and none is required. Like all readers here, it ends only when the parser has
 * accepted the end of the body.
 */
export async function readJsonText(request: Request, operation: Reading): Promise<string> {
  const { body: rule } = operation;
  if (!rule) throw new Error(`operation ${operation.id} declares no body`);
  const type = request.headers.get("content-type");
  if (type !== null && !isAccepted(type, rule)) {
    throw new ServiceError(
      "unsupported_media_type",
      messages.unsupportedMediaType(rule.mediaTypes),
    );
  }
  rejectCompressed(request);
  rejectLonger(request, rule.bytesMax);
  // Created before the body is read, so that it is aborted with the request.
  const { signal } = request;
  let bytes: Uint8Array | undefined;
  let failure: unknown;
  const reading = readBytes(request, rule.bytesMax).then(
    (read) => {
      bytes = read;
    },
    (error: unknown) => {
      failure = error;
    },
  );
  await untilTurnEnds();
  if (!bytes && failure === undefined) {
    // Most bodies arrive with their request, and cost no timer.
    await inTime(reading);
    await untilTurnEnds();
  }
  if (failure instanceof ServiceError) throw failure;
  if (!bytes) throw invalidRequest(messages.incompleteBody);
  assertAccepted(signal);
  if (!rule.isOptional && bytes.length === 0) throw invalidRequest(messages.bodyRequired);
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalidRequest(messages.invalidUtf8);
  }
}

/**
 * Reads a body of any media type as it arrives, no faster than the caller takes it. Throws if it is too
 * large or does not arrive completely, and when `stopping` is aborted.
 */
export async function* readChunks(
  request: Request,
  bytesMax: number,
  stopping: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  rejectCompressed(request);
  rejectLonger(request, bytesMax);
  try {
    // The server closes connections that are silent, so chunks arrive until the time is over.
    const endsAt = performance.now() + fileMsMax;
    for await (const chunk of untilStopped(boundedChunks(request, bytesMax), stopping)) {
      if (performance.now() > endsAt) throw late(fileMsMax);
      yield chunk;
    }
    await untilAccepted(request);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw invalidRequest(messages.incompleteBody);
  }
}

function rejectCompressed({ headers }: Request): void {
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity") {
    throw new UnsupportedEncoding();
  }
}

/** Throws if the declared length is too large. */
function rejectLonger({ headers }: Request, bytesMax: number): void {
  const declared = headers.get("content-length");
  if (declared !== null && Number(declared) > bytesMax) throw tooLarge(bytesMax);
}

function isAccepted(contentType: string, { mediaTypes }: BodyRule): boolean {
  if (mediaTypes.includes(contentType)) return true;
  return mediaTypes.includes(contentType.split(";")[0]!.trim().toLowerCase());
}

function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  if (request.headers.has("content-length")) return request.bytes();
  return Array.fromAsync(boundedChunks(request, bytesMax)).then(Buffer.concat);
}

/** The same chunks. Throws when the service stops, even if no more of them arrive. */
async function* untilStopped(
  chunks: AsyncGenerator<Uint8Array, void>,
  stopping: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<Uint8Array, void>>();
    const stop = () => reject(unavailable("stopping"));
    if (stopping.aborted) stop();
    // Removed after each chunk: the signal lives as long as the service, and would keep them in memory.
    stopping.addEventListener("abort", stop, { once: true });
    chunks.next().then(resolve, reject);
    const next = await promise.finally(() => stopping.removeEventListener("abort", stop));
    if (next.done) return;
    yield next.value;
  }
}

/** Resolves or rejects as `work` does, or rejects when the time of a body is over. */
function inTime<T>(work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(late(textMsMax)), textMsMax);
  work.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}

function late(ms: number): ServiceError {
  return invalidRequest(messages.bodyTooLate(ms / 1_000));
}

/** Counts the bytes of a body whose length may not be declared, to stop as soon as there are too many. */
async function* boundedChunks(
  { body }: Request,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void> {
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge(bytesMax);
    yield chunk;
  }
}

function tooLarge(bytesMax: number): ServiceError {
  return new ServiceError("payload_too_large", messages.bodyTooLarge(bytesMax));
}

/** The end of this turn of the event loop, if a request waits for it. */
let turnEnd: Promise<void> | undefined;

/**
 * Resolves when the HTTP parser has accepted what it has passed on, and rejects if it has not. The parser
 * passes on a request, or the last bytes of a body, before it has checked what follows in the same packet.
 * If it rejects that, it responds by itself and aborts the request's signal, in the same turn of the event
 * loop. So nothing may change before the turn has ended. All requests of a turn wait for one promise.
 * See docs/decisions/0011-rejected-requests.md.
 */
export async function untilAccepted({ signal }: Request): Promise<void> {
  await untilTurnEnds();
  assertAccepted(signal);
}

function untilTurnEnds(): Promise<void> {
  turnEnd ??= new Promise((resolve) => {
    setImmediate(() => {
      turnEnd = undefined;
      resolve();
    });
  });
  return turnEnd;
}

function assertAccepted({ aborted }: AbortSignal): void {
  if (aborted) throw invalidRequest(messages.connectionClosed);
}
