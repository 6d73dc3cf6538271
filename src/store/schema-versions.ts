import type { Environment } from "../domain/keys/keys.ts";
import type { Schema } from "../domain/operations/upgrades.ts";
import { ServiceError } from "../domain/running/errors.ts";

/** What operators are told about a step of the schema. */
export interface StepTerms {
  /** The first release that has this step. */
  readonly release: string;
}

/** The schema after so many steps. */
export function schemaOf(steps: readonly StepTerms[], version: number): Schema {
  return { version, release: steps[version - 1]?.release ?? "a later release" };
}

/** The error for a store that this version of petstore cannot open. */
export function madeByNewer(steps: readonly StepTerms[], version: number): ServiceError {
  const { version: known, release } = schemaOf(steps, steps.length);
  return new ServiceError(
    "unavailable",
    `the database was made for a newer version of petstore: it has schema ${version}, and this version knows schema ${known}, of ${release}; use the newer version, or restore a backup from before its migration`,
  );
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
