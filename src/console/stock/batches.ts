import { type Signal, signal } from "@preact/signals";
import { changesMax } from "../../domain/values/bounds.ts";
import { ApiError, createIdempotencyKey, messageOf, request } from "../client/api.ts";
import { session } from "../client/session.ts";
import type { AppliedChanges, FailedLine, StockChange } from "../client/types.ts";
import { petNameOf, table, touched } from "./state.ts";

/** Changes that are applied whole or not at all. With the same key, they are never applied twice. */
export interface Batch {
  readonly key: string;
  readonly changes: readonly StockChange[];
}

export function toBatches(changes: readonly StockChange[], size = changesMax): readonly Batch[] {
  return Array.from({ length: Math.ceil(changes.length / size) }, (_, index) => ({
    key: createIdempotencyKey(),
    changes: changes.slice(index * size, (index + 1) * size),
  }));
}

export function countChanges(batches: readonly Batch[]): number {
  return batches.reduce((sum, { changes }) => sum + changes.length, 0);
}

type Applied = (batch: Batch, entries: AppliedChanges["entries"]) => void;

/** Sends batches one after the other, and keeps those that may not have been applied. */
export class Sending {
  /** How many changes were applied, of how many. Undefined if nothing is being sent. */
  readonly progress: Signal<{ readonly applied: number; readonly total: number } | undefined> =
    signal(undefined);
  readonly error = signal("");
  /** The changes because of which the service refused the last batch. */
  failed: readonly FailedLine[] = [];
  /** Batches that may not have been applied. After a lost connection, they are sent again unchanged. */
  readonly rest = signal<readonly Batch[]>([]);

  /** Calls `applied` with each batch that is in the ledger. Returns true if all of them are. */
  async send(batches: readonly Batch[], applied?: Applied): Promise<boolean> {
    const { value: sender } = session;
    const total = countChanges(batches);
    const showProgress = () => {
      this.progress.value = { applied: total - countChanges(this.rest.value), total };
    };
    this.rest.value = batches;
    this.error.value = "";
    this.failed = [];
    showProgress();
    try {
      for (const batch of batches) {
        const { entries } = await request<AppliedChanges>("/changes", {
          method: "POST",
          body: { changes: batch.changes },
          idempotencyKey: batch.key,
        });
        // Another person has signed in, and must not send the rest.
        if (session.value !== sender) return false;
        for (const entry of entries) table.value.update(entry);
        touched();
        this.rest.value = this.rest.value.slice(1);
        showProgress();
        applied?.(batch, entries);
      }
      return true;
    } catch (error) {
      if (session.value !== sender) return false;
      this.failed = error instanceof ApiError ? error.details : [];
      const others = this.failed.slice(1).map(({ petId }) => petNameOf(petId));
      const also = others.length > 0 ? ` Also refused: ${others.join(", ")}.` : "";
      this.error.value = messageOf(error) + also;
      if (!isUncertain(error)) this.rest.value = [];
      return false;
    } finally {
      this.progress.value = undefined;
    }
  }

  clear(): void {
    this.error.value = "";
    this.rest.value = [];
  }
}

/** What refuses a batch for its content, so that no earlier attempt was applied either. */
const refusals = [400, 404, 409, 413, 422];

/** True if the service may have applied the batch: then it has to be sent again with its own key. */
function isUncertain(error: unknown): boolean {
  return !(error instanceof ApiError && refusals.includes(error.status));
}
