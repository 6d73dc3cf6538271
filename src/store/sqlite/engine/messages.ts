import { type Entry, petStatuses } from "../../../domain/inventory.ts";
import type { Cause, Change, Outcome } from "../../../domain/ledger.ts";

/**
 * Changes and outcomes on their way between threads. A message of objects is copied property by
 * property, three times the cost of these few columns.
 */
export interface PackedChanges {
  readonly petIds: BigInt64Array;
  readonly quantities: Float64Array;
  /** JSON of cause, key, request and reason, row after row. */
  readonly origins: string;
}

export function packChanges(changes: readonly Change[]): PackedChanges {
  const petIds = new BigInt64Array(changes.length);
  const quantities = new Float64Array(changes.length);
  const origins: (string | null)[] = [];
  for (let index = 0; index < changes.length; index++) {
    const change = changes[index]!;
    petIds[index] = change.petId;
    quantities[index] = change.quantity;
    origins.push(change.cause, change.keyId, change.requestId, change.reason);
  }
  return { petIds, quantities, origins: JSON.stringify(origins) };
}

export function unpackChanges(packed: PackedChanges): Change[] {
  const origins = JSON.parse(packed.origins) as (string | null)[];
  return Array.from(packed.petIds, (petId, index) => ({
    petId,
    quantity: packed.quantities[index]!,
    cause: origins[4 * index] as Cause,
    keyId: origins[4 * index + 1]!,
    requestId: origins[4 * index + 2]!,
    reason: origins[4 * index + 3]!,
  }));
}

/** What the sender of the changes does not know: the new version, 0 for none, and the status. */
export interface PackedOutcomes {
  readonly versions: Float64Array;
  readonly statuses: Uint8Array;
}

export function packOutcomes(outcomes: readonly Outcome[]): PackedOutcomes {
  const versions = new Float64Array(outcomes.length);
  const statuses = new Uint8Array(outcomes.length);
  for (let index = 0; index < outcomes.length; index++) {
    const outcome = outcomes[index]!;
    if (outcome === "not_found") continue;
    versions[index] = outcome.version;
    statuses[index] = petStatuses.indexOf(outcome.status);
  }
  return { versions, statuses };
}

export function unpackOutcomes(packed: PackedOutcomes, changes: readonly Change[]): Outcome[] {
  return changes.map(({ petId, quantity }, index): Entry | "not_found" => {
    const version = packed.versions[index]!;
    if (version === 0) return "not_found";
    return { petId, quantity, status: petStatuses[packed.statuses[index]!]!, version };
  });
}
