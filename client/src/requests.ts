import { readBody } from "./body.js";
import type { Transport } from "./call.js";
import { decodeLedgerRows } from "./decode-ledger.js";
import { checkInteger, checkString, checkStringOrNull, readFields } from "./fields.js";
import { type Json, withToJson } from "./json.js";
import type { CallOptions } from "./options.js";
import type { WithResponse } from "./promise.js";
import { sendWithRetries } from "./retry.js";
import type { RequestOutcome } from "./types.js";

export async function getRequest(
  transport: Transport,
  requestId: string,
  options: CallOptions,
): Promise<WithResponse<RequestOutcome>> {
  const path = `/requests/${encodeURIComponent(requestId)}`;
  const call = { operation: "getRequest", method: "GET", path } as const;
  const response = await sendWithRetries(transport, call, options);
  return { value: readBody(response, decodeOutcome), response };
}

function decodeOutcome(value: Json): RequestOutcome {
  const fields = readFields(value);
  for (const name of ["requestId", "outcome", "advice"]) checkString(fields[name], name);
  if (fields.error !== null) checkError(fields.error as Json | undefined);
  decodeLedgerRows(fields.changes as Json | undefined);
  return withToJson(fields) as unknown as RequestOutcome;
}

function checkError(value: Json | undefined): void {
  const error = readFields(value);
  for (const name of ["at", "method", "path", "code", "message"]) checkString(error[name], name);
  for (const name of ["status", "durationMs"]) checkInteger(error[name], name);
  checkStringOrNull(error.userAgent, "userAgent");
}
