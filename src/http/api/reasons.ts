import { ServiceError } from "../../domain/running/errors.ts";
import { isReason, reasonCharactersMax, reasonRule } from "../../domain/values/texts.ts";
import type { Parameter } from "./contract/operation.ts";

export const reasonHeaderRule = `Header 'X-Change-Reason' ${reasonRule}. It must be ASCII, with other characters percent-encoded as UTF-8 and % as %25.`;

export const reasonParameter: Parameter = {
  name: "X-Change-Reason",
  in: "header",
  description: `Why the stock changes, in at most ${reasonCharactersMax} characters. The ledger keeps it. Percent-encode characters outside ASCII as UTF-8, and \`%\` as \`%25\`. Control characters are rejected.`,
  schema: { type: "string" },
  example: "Stocktake, shelf 4",
};

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
