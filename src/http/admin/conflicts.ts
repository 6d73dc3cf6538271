import { petNotFound } from "../../domain/ledger/inventory.ts";
import type { NamedRow } from "../../domain/ledger/ledger.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { exampleRow } from "../api/contract/examples.ts";
import type { Context } from "../pipeline/context.ts";

/**
 * The error for an entry that somebody else has changed. The message says what is stored now, who did
 * it and when, so that the operator can decide.
 */
export async function versionConflict(
  { store }: Context,
  { petId, version }: { readonly petId: bigint; readonly version: number },
): Promise<ServiceError> {
  const [row] = await store.history.petRows(petId, version, 1);
  if (!row) return new ServiceError("not_found", petNotFound);
  return new ServiceError("version_conflict", conflictMessage(row));
}

type LastChange = Pick<NamedRow, "seq" | "after" | "at" | "cause" | "keyId" | "keyName">;

export function conflictMessage(row: LastChange): string {
  const { after, seq, at } = row;
  const stock = after ? `it is now ${after.quantity} ${after.status}` : "the pet was removed";
  const when = new Date(at).toISOString();
  return `The entry has changed: ${stock}, by ${authorOf(row)} at ${when} (version ${seq}).`;
}

function authorOf({ cause, keyId, keyName }: LastChange): string {
  return keyName ?? keyId ?? (cause === "import" ? "an import" : "a command");
}

export const exampleConflict = conflictMessage({ ...exampleRow, at: Date.parse(exampleRow.at) });
