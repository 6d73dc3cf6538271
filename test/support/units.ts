import type { Change, Outcome, Stored, Unit } from "../../src/domain/ledger/ledger.ts";
import type { CommitTerms } from "../../src/store/postgres/plain-updates.ts";

/** A unit of one change that sets a quantity, as a PATCH request does. */
export function setUnit(
  petId: bigint,
  quantity: number,
  origin: Partial<Unit & Change> = {},
): Unit {
  const { keyId = null, requestId = null, cause = "api", reason = null } = origin;
  return { changes: [{ petId, kind: "set", amount: quantity, reason }], cause, keyId, requestId };
}

/** The entry of a stored unit with one change. */
export function storedEntry(outcome: Outcome | undefined): Stored["entries"][number] {
  if (outcome?.kind !== "stored") throw new Error(`not stored: ${JSON.stringify(outcome)}`);
  return outcome.entries[0]!;
}

/** The version that a unit of one change stored, or the reason why it was rejected. */
export function versionOrReason(outcome: Outcome): number | string {
  return outcome.kind === "stored" ? outcome.entries[0]!.version : outcome.reason;
}

/** A unit of several changes by one request. A change without a kind sets the quantity. */
export function unitOf(...changes: readonly (Partial<Change> & { petId: bigint })[]): Unit {
  return {
    changes: changes.map((change) => ({ kind: "set", amount: 0, reason: null, ...change })),
    cause: "api",
    keyId: "key_a",
    requestId: "req_unit",
  };
}

/** The terms on which PostgreSQL commits a group now, if nobody has waited yet. */
export function termsNow(): CommitTerms {
  return { now: null, giveUpAt: performance.now() + 3_000 };
}
