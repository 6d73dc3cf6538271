import { ApiError, request } from "../client/api.ts";
import { createIdempotencyKey } from "../client/idempotency-key.ts";
import { session } from "../client/session.ts";
import type { PetStatus, VersionedItem } from "../client/types.ts";
import { table, touched } from "./state.ts";

/** One change of a batch. Status alone is a difference of 0 with a status. */
export interface BatchChange {
  readonly petId: string;
  readonly quantity?: number;
  readonly delta?: number;
  readonly status?: PetStatus;
  readonly reason?: string;
  readonly expectedVersion?: number;
}

/** Changes that are applied whole or not at all. With the same key, they are never applied twice. */
export interface Batch {
  readonly key: string;
  readonly changes: readonly BatchChange[];
}

/** The API takes this many changes at once. */
const batchSizeMax = 1_000;

export function toBatches(changes: readonly BatchChange[]): readonly Batch[] {
  const count = Math.ceil(changes.length / batchSizeMax);
  return Array.from({ length: count }, (_, index) => ({
    key: createIdempotencyKey(),
    changes: changes.slice(index * batchSizeMax, (index + 1) * batchSizeMax),
  }));
}

/**
 * Sends batches one after the other and calls `applied` with each one that is in the ledger. Returns
 * false if the session ended meanwhile: the rest must not be sent in the name of the next person.
 */
export async function sendBatches(
  batches: readonly Batch[],
  applied: (batch: Batch) => void,
): Promise<boolean> {
  const { value: sender } = session;
  try {
    for (const batch of batches) {
      const { entries } = await request<{ entries: readonly VersionedItem[] }>("/changes", {
        method: "POST",
        body: { changes: batch.changes },
        idempotencyKey: batch.key,
      });
      if (session.value !== sender) return false;
      for (const entry of entries) table.value.update(entry);
      touched();
      applied(batch);
    }
    return true;
  } catch (error) {
    if (session.value !== sender) return false;
    throw error;
  }
}

/** True if the service may have applied the batch: then it has to be sent again with its own key. */
export function isUncertain(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}
