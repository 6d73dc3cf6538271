import { withLocalTimes } from "../texts/times.ts";
import { formatExactly, parseExactly } from "./exact-json.ts";
import { pause, retryDelayMs } from "./retries.ts";
import type { FailedLine } from "./types.ts";

/** An error whose message is for the person who reads the page. */
export class ShownError extends Error {}

/** A request that failed. */
export class ApiError extends ShownError {
  /** The code of the API, or `offline` if there was no response. */
  readonly code: string;
  /** 0 if there was no response. */
  readonly status: number;
  /** How long the service asks to wait before the next attempt, in seconds, or null. */
  readonly retryAfter: string | null;
  /** The changes of a batch that are at fault. */
  details: readonly FailedLine[] = [];

  constructor(code: string, message: string, status: number, retryAfter: string | null = null) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

export interface RequestOptions {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Sent as JSON with exact ids. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Makes a write safe to repeat: it is sent again if the connection fails or the service is busy. A
   * write without one is sent once, because the service may have applied it.
   */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** Called when a response says that the session has ended. */
let sessionEnded: () => void = () => undefined;

export function onSessionEnd(handler: () => void): void {
  sessionEnded = handler;
}

/** Finds out whether the session has ended, and says so if it has. Never fails. */
export async function checkSession(): Promise<void> {
  const response = await fetch("/admin/session").catch(() => undefined);
  if (response?.status === 401) sessionEnded();
}

/** Sends a request to the operator API and returns the parsed body, or undefined if it is empty. */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const text = await readText(await fetchResponse(path, options), options.signal);
  return (text === "" ? undefined : parseExactly(text)) as T;
}

/** The body of a response. Fails like a request if the connection ends before the body does. */
export async function readText(response: Response, signal?: AbortSignal): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw toFailure(error, signal);
  }
}

/** A list of which the API returns one page at a time. */
export interface PageOf<T> {
  readonly items: readonly T[];
  /** The path of the next page, or undefined. */
  readonly next: string | undefined;
}

export async function requestPage<T>(path: string, signal?: AbortSignal): Promise<PageOf<T>> {
  const response = await fetchResponse(path, signal ? { signal } : {});
  const items = parseExactly(await readText(response, signal)) as readonly T[];
  const link = /<([^>]+)>;\s*rel="?next"?/.exec(response.headers.get("link") ?? "")?.[1];
  return { items, next: link?.replace(/^(?:https?:\/\/[^/]+)?\/admin/, "") };
}

/** Sends a request. Throws an ApiError unless the response is a success. */
export async function fetchResponse(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", body, idempotencyKey, signal } = options;
  const headers = new Headers(options.headers);
  if (body !== undefined) headers.set("Content-Type", "application/json");
  if (idempotencyKey !== undefined) headers.set("Idempotency-Key", idempotencyKey);
  const attempts = method === "GET" || idempotencyKey !== undefined ? attemptsMax : 1;
  const init: RequestInit = {
    method,
    headers,
    body: body === undefined ? null : formatExactly(body),
    ...(signal ? { signal } : {}),
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await fetch(`/admin${path}`, init);
      if (response.ok) return response;
      throw await toError(response);
    } catch (error) {
      const failure = toFailure(error, signal);
      const isTemporary = failure.status === 0 || failure.status === 503;
      if (!isTemporary || attempt >= attempts) throw failure;
      await pause(retryDelayMs(attempt, failure.retryAfter), signal);
    }
  }
}

const attemptsMax = 3;

/** The error that a response reports. */
export async function toError(response: Response): Promise<ApiError> {
  const parsing = response.text().then(parseExactly);
  const body: Partial<ApiError> = (await parsing.catch(() => ({}))) as object;
  const { code = "unknown", message = "", details = [] } = body;
  if (response.status === 401) sessionEnded();
  const text = message || `The service answered with status ${response.status}.`;
  // What is wrong with a request may contain a time as an example of the form to use.
  const shown = code === "invalid_request" ? text : withLocalTimes(text);
  const retryAfter = response.headers.get("retry-after");
  return Object.assign(new ApiError(code, shown, response.status, retryAfter), { details });
}

/** An abort is not a failure of the service, so the caller gets it as it is. */
function toFailure(error: unknown, signal: AbortSignal | undefined): ApiError {
  if (error instanceof ApiError) return error;
  if (signal?.aborted) throw error;
  return new ApiError("offline", "The service cannot be reached. Check your connection.", 0);
}

/** What to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof ShownError) return error.message;
  return "Something went wrong on this page. Reload it and try again.";
}

/** Makes a key for a write that may be sent more than once. */
export function createIdempotencyKey(): string {
  // Not randomUUID: browsers have it only on pages with TLS and on localhost.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
