import { ServiceError } from "../../domain/running/errors.ts";
import { isReason, reasonRule } from "../../domain/values/texts.ts";

export const reasonHeaderRule = `Header 'X-Change-Reason' ${reasonRule}. It must be ASCII, with other characters percent-encoded as UTF-8 and % as %25.`;

/** Returns the reason in `X-Change-Reason`, or null if there is none. */
export function parseReason(header: string | null): string | null {
  if (header === null || header === "") return null;
  const reason = decoded(header);
  if (reason === undefined || !isReason(reason)) {
    throw new ServiceError("invalid_request", reasonHeaderRule);
  }
  return reason;
}

/** Undefined if the header is not ASCII, or its percent-encoding is not that of UTF-8. */
function decoded(header: string): string | undefined {
  if (!/^[ -~]*$/.test(header)) return undefined;
  if (!header.includes("%")) return header;
  try {
    return decodeURIComponent(header);
  } catch {
    return undefined;
  }
}
