import type { Committer } from "./commits.ts";
import { ServiceError } from "./errors.ts";
import type { Follower } from "./follower.ts";
import type { HeadWatcher } from "./head.ts";
import type { Entry } from "./inventory.ts";
import type { Caller } from "./keys.ts";
import { petNotFound } from "./pets.ts";
import type { Clock, Store } from "./ports.ts";

/** Everything that the operations of a running service use. */
export interface Shop {
  readonly store: Store;
  readonly clock: Clock;
  readonly head: HeadWatcher;
  readonly committer: Committer;
  readonly follower: Follower;
}

export interface StockUpdate {
  readonly petId: bigint;
  readonly quantity: number;
  readonly requestId: string;
  /** Aborted when the client's connection is gone. */
  readonly signal: AbortSignal;
}

/** Sets a pet's quantity and returns the entry once the change is durable. */
export async function setQuantity(
  { committer }: Pick<Shop, "committer">,
  { keyId }: Caller,
  { petId, quantity, requestId, signal }: StockUpdate,
): Promise<Entry> {
  const change = { petId, kind: "set", amount: quantity, reason: null } as const;
  const unit = { changes: [change], cause: "api", keyId, requestId } as const;
  const outcome = await committer.submit(unit, signal);
  if (outcome.kind === "stored") return outcome.entries[0]!;
  if (outcome.reason === "not_found") throw new ServiceError("not_found", petNotFound);
  throw new Error(`an absolute change was rejected: ${outcome.reason}`);
}
