import type { FinishedRequest } from "../../domain/running/requests.ts";
import { traceIdOf } from "../../domain/values/traceparent.ts";
import type { Observer } from "./observe.ts";

export type LoggedRequests = "off" | "errors" | "sampled" | "all";

/** Where the lines go. */
export interface RequestLines {
  readonly format: "json" | "text";
  /** Adds a line that is already escaped. */
  addLine(line: string): void;
  /** Counts a line that is left out, because there are too many. */
  dropLine(): void;
}

/** `sampled` logs one in so many of the requests without an error. */
const sampleEvery = 100;

/** Lines per second of `errors` and `sampled`. A client that sends only errors must not fill the disk. */
const linesPerSecondMax = 200;

/**
 * Writes one line per request. Builds the line without JSON.stringify, which would cost as much as a
 * short response. No part of it needs to be escaped: each is a number, a name of ours, or was checked.
 */
export function createRequestLog(
  requests: LoggedRequests,
  { format, addLine, dropLine }: RequestLines,
): Observer | undefined {
  if (requests === "off") return undefined;
  const lineOf = format === "json" ? jsonLine : textLine;
  const time = createTimeText();
  if (requests === "all") return (request) => addLine(lineOf(request, time()));
  let second = 0;
  let lines = 0;
  let others = 0;

  function isBelowMax(): boolean {
    const current = Math.floor(Date.now() / 1_000);
    if (current !== second) lines = 0;
    second = current;
    lines += 1;
    return lines <= linesPerSecondMax;
  }

  function isSampled(): boolean {
    others += 1;
    if (others < sampleEvery) return false;
    others = 0;
    return true;
  }

  return (request) => {
    const isWanted = request.status >= 400 || (requests === "sampled" && isSampled());
    if (!isWanted) return;
    if (isBelowMax()) addLine(lineOf(request, time()));
    else dropLine();
  };
}

/** The current time as text. Made once per millisecond. */
function createTimeText(): () => string {
  let known = Number.NaN;
  let text = "";
  return () => {
    const current = Date.now();
    if (current !== known) {
      known = current;
      text = new Date(current).toISOString();
    }
    return text;
  };
}

function jsonLine(request: FinishedRequest, at: string): string {
  const { requestId, operation, status, durationMs, bytes, keyId, headers } = request;
  const traceId = traceIdOf(headers);
  return `{"at":"${at}","level":"info","event":"request","requestId":"${requestId}",${
    operation === undefined ? "" : `"operation":"${operation}",`
  }"method":"${methodOf(request)}","status":${status},"durationMs":${rounded(durationMs)},"bytes":${bytes}${
    keyId === undefined ? "" : `,"keyId":"${keyId}"`
  }${traceId === undefined ? "" : `,"traceId":"${traceId}"`}}\n`;
}

function textLine(request: FinishedRequest, at: string): string {
  const { requestId, operation, status, durationMs, bytes, keyId, headers } = request;
  const traceId = traceIdOf(headers);
  return `${at} INFO  request requestId=${requestId}${
    operation === undefined ? "" : ` operation=${operation}`
  } method=${methodOf(request)} status=${status} durationMs=${rounded(durationMs)} bytes=${bytes}${
    keyId === undefined ? "" : ` keyId=${keyId}`
  }${traceId === undefined ? "" : ` traceId=${traceId}`}\n`;
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** A client may send any text as its method. */
function methodOf({ method }: FinishedRequest): string {
  return methods.has(method) ? method : "other";
}

/** To microseconds. Whole numbers are written several times as fast as others. */
function rounded(ms: number): string {
  const microseconds = Math.round(ms * 1_000);
  const whole = Math.floor(microseconds / 1_000);
  const rest = microseconds - whole * 1_000;
  return `${whole}.${rest < 10 ? "00" : rest < 100 ? "0" : ""}${rest}`;
}
