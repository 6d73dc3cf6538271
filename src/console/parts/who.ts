import type { LedgerRow } from "../client/types.ts";

/** Who made a change. Commands have no key. */
export function whoOf({ keyName, keyId }: Pick<LedgerRow, "keyName" | "keyId">): string {
  return keyName ?? keyId ?? "Command line";
}
