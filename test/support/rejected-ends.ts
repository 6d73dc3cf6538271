// How a request ends: as it should, and as the HTTP parser rejects it.

export const counted = (body: string) =>
  `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
/** Without the CRLF after the last chunk. */
export const chunked = (body: string) => {
  const chunk = body && `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`;
  return `Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n`;
};
const nextRequest = "GET /healthz HTTP/1.1\r\nHost: shop\r\n\r\n";

/** Ends of requests. The HTTP parser rejects each of them after it has passed on the request. */
export const rejectedEnds: readonly (readonly [what: string, end: (body: string) => string])[] = [
  ["an extra CRLF", (body) => `${counted(body)}\r\n`],
  ["garbage after the body", (body) => `${counted(body)}garbage\r\n\r\n`],
  ["another request", (body) => `${counted(body)}${nextRequest}`],
  ["a trailer", (body) => `${chunked(body)}X: y\r\n\r\n`],
  ["garbage after the last chunk", (body) => `${chunked(body)}garbage`],
  ["an extra CRLF after the last chunk", (body) => `${chunked(body)}\r\n\r\n`],
];
