import type { Actor } from "../../domain/audit/audit.ts";
import type { Call } from "../pipeline/operation.ts";

/** Whom the ledger and the audit log name for what a request changes. */
export function actorOf({ caller, requestId }: Call): Actor {
  return { keyId: caller.keyId, requestId };
}
