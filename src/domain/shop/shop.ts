import type { Committer } from "../commits/commits.ts";
import type { Follower } from "../inventory/follower.ts";
import type { Caller } from "../keys/keys.ts";
import {
  changeMessage,
  outOfRangeMessage,
  reusedKey,
  versionConflictMessage,
} from "../ledger/changes.ts";
import type { HeadWatcher } from "../ledger/head.ts";
import { petNotFound } from "../ledger/inventory.ts";
import type {
  Cause,
  Change,
  ExpectedVersion,
  IdempotentRequest,
  Outcome,
  Rejected,
  RejectedChange,
  RejectionReason,
  Stored,
} from "../ledger/ledger.ts";
import type { VersionedEntry } from "../ledger/store.ts";
import type { Clock, Trace } from "../running/clock.ts";
import { DetailedError, type ErrorCode, ServiceError } from "../running/errors.ts";
import type { Store } from "../store.ts";
import { exactInteger } from "../values/json.ts";

/** Everything that the operations of a running service use. */
export interface Shop {
  readonly store: Store;
  readonly clock: Clock;
  readonly head: HeadWatcher;
  readonly committer: Committer;
  readonly follower: Follower;
  /** How old a result that a request with an idempotency key gets again may be. */
  idempotencyReachMs(): number;
}

/** What a write needs of the shop. */
export type WriteShop = Pick<Shop, "committer" | "idempotencyReachMs">;

/** The request that a write belongs to. */
export interface WriteRequest {
  readonly requestId: string;
  /** Aborted when the client's connection is gone. */
  readonly signal: AbortSignal;
  readonly trace?: Trace | undefined;
  /** The cause of the ledger rows. `api` unless given. */
  readonly cause?: Cause | undefined;
  /** Set if the client may send the request again. */
  readonly idempotency?: Omit<IdempotentRequest, "keptMs"> | undefined;
  /** Applies the rules and stores nothing, not even the idempotency key. */
  readonly isDryRun?: boolean | undefined;
}

export interface StockUpdate extends WriteRequest {
  readonly petId: bigint;
  readonly quantity: number;
  /** The entry must be at one of these versions. Undefined accepts any version. */
  readonly expected?: readonly ExpectedVersion[] | undefined;
  readonly reason: string | null;
}

/** Sets a pet's quantity. Resolves once the change is durable, to be passed to `quantityOutcome`. */
export function setQuantity(
  shop: WriteShop,
  caller: Caller,
  update: StockUpdate,
): Promise<Outcome> {
  const { petId, quantity, expected, reason } = update;
  return submit(shop, caller, [{ petId, kind: "set", amount: quantity, expected, reason }], update);
}

/** Throws if the quantity was not set, unless the entry was at none of the expected versions. */
export function quantityOutcome(
  outcome: Outcome,
): Stored | { readonly kind: "mismatch"; readonly current: VersionedEntry } {
  if (outcome.kind === "stored") return outcome;
  if (outcome.reason === "not_found") throw new ServiceError("not_found", petNotFound);
  if (outcome.reason === "version_mismatch") {
    return { kind: "mismatch", current: { entry: outcome.current!, epoch: outcome.epoch! } };
  }
  if (outcome.reason === "key_reused") throw reusedKey();
  throw new Error(`an absolute change was rejected: ${outcome.reason}`);
}

/** Stores one change. Resolves once it is durable, or with the rule that it breaks. */
export async function changeStock(
  shop: WriteShop,
  caller: Caller,
  change: Change,
  request: WriteRequest,
): Promise<Outcome> {
  const outcome = await submit(shop, caller, [change], request);
  if (outcome.kind === "rejected" && outcome.reason === "key_reused") throw reusedKey();
  return outcome;
}

/** Stores all changes or none. Resolves once they are durable. */
export async function applyChanges(
  shop: WriteShop,
  caller: Caller,
  changes: readonly Change[],
  request: WriteRequest,
): Promise<Stored> {
  const outcome = await submit(shop, caller, changes, request);
  if (outcome.kind === "stored") return outcome;
  if (outcome.reason === "key_reused") throw reusedKey();
  throw rejectedChange(changes, outcome);
}

function submit(
  { committer, idempotencyReachMs }: WriteShop,
  { keyId }: Caller,
  changes: readonly Change[],
  { requestId, signal, trace, cause = "api", idempotency, isDryRun }: WriteRequest,
): Promise<Outcome> {
  const unit = { changes, cause, keyId, requestId };
  if (isDryRun) return committer.submit({ ...unit, isDryRun }, signal, trace);
  if (!idempotency) return committer.submit(unit, signal, trace);
  const { key, request } = idempotency;
  const remembered = { key, request, keptMs: idempotencyReachMs() };
  return committer.submit({ ...unit, idempotency: remembered }, signal, trace);
}

/** The error for a whole batch. Its message is about the first change that broke a rule. */
function rejectedChange(changes: readonly Change[], rejected: Rejected): ServiceError {
  const { index, reason, others = [] } = rejected;
  const change = changes[index]!;
  const details = [rejected, ...others].map((one) => failedLine(changes[one.index]!, one));
  const text = changeMessage(index, change.petId, ruleOf(change, rejected));
  return new DetailedError(codeOf[reason], text, details);
}

const codeOf = {
  not_found: "not_found",
  version_mismatch: "version_conflict",
  count_outdated: "version_conflict",
  count_untimed: "version_conflict",
  out_of_range: "insufficient_stock",
  key_reused: "idempotency_key_reused",
} as const satisfies Record<RejectionReason, ErrorCode>;

function ruleOf(change: Change, rejected: Rejected): string {
  if (rejected.reason === "not_found") return petNotFound;
  if (rejected.reason === "out_of_range") return outOfRangeMessage(change, rejected);
  return versionConflictMessage(change, rejected);
}

/** One of the `details` of an error. If a change takes more than there are, it says how many there are. */
function failedLine({ petId, kind, amount }: Change, { index, reason, quantity }: RejectedChange) {
  const line = { index, petId: exactInteger(petId), code: codeOf[reason] };
  if (reason !== "out_of_range" || kind !== "add" || amount > 0) return line;
  return { ...line, requested: -amount, available: quantity! - amount };
}
