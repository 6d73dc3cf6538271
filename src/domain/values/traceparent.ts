/** Only a version after 00 may have more fields. */
const pattern = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Parses the header `traceparent` of W3C Trace Context, in which a client reports the trace that a request
 * belongs to: 32 hexadecimal digits, and its own span: 16 of them. Returns undefined if the header is missing or
 * malformed: the recommendation says to ignore it then. Two headers reach us as one with a comma,
 * which is malformed too.
 */
export function parseTraceParent(text: string | null) {
  const [, version, traceId, parentId, flags, more] = pattern.exec(text ?? "") ?? [];
  if (!traceId || !parentId || !flags) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  if (version === "00" && more !== undefined) return undefined;
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The trace id of a request, for log lines. */
export function traceIdOf(headers: Pick<Headers, "get">): string | undefined {
  return parseTraceParent(headers.get("traceparent"))?.traceId;
}
