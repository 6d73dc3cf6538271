import type { Environment } from "../domain/keys/keys.ts";
import { quantityMax } from "../domain/ledger/inventory.ts";
import { ServiceError } from "../domain/running/errors.ts";

/**
 * The number of the schema, the same on both engines. It grows with every change of a schema. Versions
 * before 0.17.0 numbered theirs from 1, so they take a higher number for that of a newer version.
 */
export const schemaNumber = 101;

/** What a CHECK constraint requires of a quantity. */
export const isQuantity = `BETWEEN 0 AND ${quantityMax}`;
/** The milliseconds of the last date. */
export const timeMax = 8_640_000_000_000_000;
/** What a CHECK constraint requires of a time. */
export const isTime = `BETWEEN 0 AND ${timeMax}`;

/** Rejects a store of another version. Stores are not converted: they move by a backup. */
export function assertSchema(found: number): void {
  if (found === schemaNumber) return;
  const problem = `the store has schema ${found}, but this version needs ${schemaNumber}`;
  throw new ServiceError("unavailable", `${problem}: ${adviceFor(found)}`);
}

/** What to do with a store that has another schema. A backup can be restored by later versions only. */
export function adviceFor(found: number): string {
  return found > schemaNumber
    ? "use the version that made it"
    : "back it up with the version that made it, and restore that backup with this one (docs/upgrading.md)";
}

/** The error for a store of the other environment. */
export function otherEnvironment(found: string, environment: Environment): ServiceError {
  const problem = `the database belongs to the ${found} environment, not to ${environment}`;
  return new ServiceError("unavailable", `${problem}; check --env and --database`);
}

/** Rejects a store by the row of its head, if it belongs to the other environment. */
export function assertOwner(head: readonly unknown[] | undefined, environment: Environment): void {
  if (!head)
    throw new ServiceError("unavailable", "the database has no head row; restore a backup");
  if (head[0] !== environment) throw otherEnvironment(String(head[0]), environment);
}
