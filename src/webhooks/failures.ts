/** An attempt that ended without a response. The message is for operators. */
export class AttemptFailure extends Error {}

export const headTooLong = () => new AttemptFailure("the response headers exceed 16 KiB");
const unknownAuthority = "the certificate is not signed by a known authority";

/** Messages for the codes of sockets, name resolution, TLS and HTTP. */
const messages: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EPIPE: "connection reset",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the network is unreachable",
  ETIMEDOUT: "the host does not respond",
  CERT_HAS_EXPIRED: "the certificate has expired",
  CERT_NOT_YET_VALID: "the certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  HPE_HEADER_OVERFLOW: headTooLong().message,
};

/** Explains to an operator why an attempt failed. */
export function explainFailure(error: unknown, host: string): string {
  if (error instanceof AttemptFailure) return error.message;
  const { code = "unknown error", message } = error as { code?: string; message?: string };
  // The runtime uses the code of a reset for this too.
  if (message === "socket hang up") return "the connection closed before a response";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return `the certificate is not valid for ${host}`;
  if (/^(?:ERR_SSL_|EPROTO)/.test(code)) return `the TLS handshake failed (${code})`;
  if (messages[code]) return messages[code];
  return code.startsWith("HPE_")
    ? "the response is not HTTP/1.1"
    : `the connection failed (${code})`;
}
