import type { Change, Outcome, Stored, Unit } from "../../src/domain/ledger.ts";

/** A unit of one change that sets a quantity, as a PATCH makes it. */
export function setUnit(
  petId: bigint,
  quantity: number,
  origin: Partial<Unit & Change> = {},
): Unit {
  const { keyId = null, requestId = null, cause = "api", reason = null } = origin;
  return { changes: [{ petId, kind: "set", amount: quantity, reason }], cause, keyId, requestId };
}

/** The one entry that a stored unit left. */
export function storedEntry(outcome: Outcome | undefined): Stored["entries"][number] {
  if (outcome?.kind !== "stored") throw new Error(`not stored: ${JSON.stringify(outcome)}`);
  return outcome.entries[0]!;
}

/** The version that a unit of one change left, or the reason why it was rejected. */
export function versionOrReason(outcome: Outcome): number | string {
  return outcome.kind === "stored" ? outcome.entries[0]!.version : outcome.reason;
}
