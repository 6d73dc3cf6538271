import { ServiceError } from "../running/errors.ts";
import { safeIntegerAsWritten } from "../values/int64.ts";
import { JsonNumber } from "../values/json.ts";
import { sinceCount } from "./counts.ts";
import { quantityMax } from "./inventory.ts";
import type { Change, Rejected } from "./ledger.ts";

/** The rules and messages of a batch: several changes that are stored together or not at all. */

export const deltaRule = `must be an integer from -${quantityMax} to ${quantityMax}`;

/** Returns the delta that a JSON value denotes, or undefined if it breaks the rule. */
export function readDelta(value: unknown): number | undefined {
  return value instanceof JsonNumber ? safeIntegerAsWritten(value.source) : undefined;
}

export const versionRule = `must be an integer from 1 to ${quantityMax}`;

/** Names a change by its index in the batch. */
export function changeMessage(index: number, petId: bigint, sentence: string): string {
  return `Change ${index} (pet ${petId}): ${sentence}`;
}

/** Why a delta or a count was rejected. `current` is the entry as it is stored. */
export function outOfRangeMessage(change: Change, { current, quantity }: Rejected): string {
  const { kind, amount } = change;
  const stored = `The stored quantity is ${current!.quantity}.`;
  if (kind === "count") {
    return `The quantity would be ${quantity}: counted ${amount}${sinceCount(amount, quantity!)}. ${stored} Count again.`;
  }
  return amount < 0
    ? `A delta of ${amount} would make the quantity negative. ${stored}`
    : `A delta of ${amount} would make the quantity larger than ${quantityMax}. ${stored}`;
}

export const countOutdated =
  "What has changed since the count is not known: the pet was added, a change to it was undone, it changed too often, or the store was restored. Count again.";

export const countUntimed =
  "The time of the count does not tell which changes came before it: it is in the future, or a clock was set. Count again with a connection.";

/** Why an expected version, or the row of a count, was rejected. */
export function versionConflictMessage({ expected }: Change, rejected: Rejected): string {
  if (rejected.reason === "count_outdated") return countOutdated;
  if (rejected.reason === "count_untimed") return countUntimed;
  const { version, quantity } = rejected.current!;
  return expected!.some(({ seq }) => seq === version)
    ? `An earlier change in this request changes the entry, so its version is no longer ${version}.`
    : `The version is ${version}, not ${expected!.map(({ seq }) => seq).join()}. The stored quantity is ${quantity}.`;
}

export const keyReused =
  "This Idempotency-Key belongs to an earlier request with another method, path or body.";

export function reusedKey(): ServiceError {
  return new ServiceError("idempotency_key_reused", keyReused);
}
