import { readBody } from "./body.js";
import type { Transport } from "./call.js";
import { decodeAppliedChanges } from "./decode-ledger.js";
import { formatId, type Id } from "./id.js";
import { idempotencyKeyHeader } from "./idempotency.js";
import type { WriteOptions } from "./options.js";
import type { WithResponse } from "./promise.js";
import { checkReason } from "./reason.js";
import { sendWithRetries } from "./retry.js";
import type { VersionedItem } from "./types.js";

/** The fields of every change. The contract has them as `StockChange`, with a bigint as id. */
interface ChangeFields {
  readonly petId: Id;
  /**
   * The version that the entry must have, as in a `VersionedItem` or as the `seq` of its last ledger
   * row. Otherwise the service rejects the whole batch with `version_conflict`.
   */
  readonly expectedVersion?: number;
  /** The reason for the change, shown in its history. At most 200 characters. */
  readonly reason?: string | undefined;
}

/** Sets the stock of a pet. */
export interface QuantityChange extends ChangeFields {
  /** The new number in stock. */
  readonly quantity: number;
  readonly delta?: undefined;
}

/** Adds to the stock of a pet, or takes from it. */
export interface DeltaChange extends ChangeFields {
  /** The number to add. A negative number takes from the stock, which never falls below 0. */
  readonly delta: number;
  readonly quantity?: undefined;
}

/** One change of a batch. */
export type StockChange = QuantityChange | DeltaChange;

export interface ApplyOptions extends WriteOptions {
  /**
   * True to see what the changes would do. They are checked, and nothing is stored. Each returned entry
   * is as it would be, with its stock `before` and its current version.
   */
  readonly dryRun?: boolean;
}

export async function applyChanges(
  transport: Transport,
  changes: readonly StockChange[],
  options: ApplyOptions,
): Promise<WithResponse<VersionedItem[]>> {
  if (!Array.isArray(changes)) {
    throw new TypeError("Pass an array of changes: [{ petId: 7n, delta: -1 }]");
  }
  const isDryRun = readDryRun(options);
  const call = {
    operation: "applyChanges",
    method: "POST",
    path: "/changes",
    headers: {
      "Content-Type": "application/json",
      "Idempotency-Key": idempotencyKeyHeader(options.idempotencyKey),
    },
    body: `{${isDryRun ? '"dryRun":true,' : ""}"changes":[${changes.map(formatChange).join()}]}`,
  } as const;
  const response = await sendWithRetries(transport, call, options);
  return { value: readBody(response, decodeAppliedChanges(isDryRun)), response };
}

/** Rejects `dryRun: undefined` and `dryRun: "true"`: the changes would then be applied. */
function readDryRun(options: ApplyOptions): boolean {
  if (!("dryRun" in options)) return false;
  if (typeof options.dryRun === "boolean") return options.dryRun;
  throw new TypeError("dryRun must be true or false. Leave it out to apply the changes");
}

/** Formats a change as JSON. Node 20 cannot write a number above 2^53, so the id is added as text. */
function formatChange(change: StockChange, index: number): string {
  const name = `changes[${index}]`;
  const { petId, quantity, delta, reason } = checkChange(name, change);
  const fields = {
    quantity,
    delta,
    expectedVersion: readExpectedVersion(name, change),
    reason: checkReason(`${name}.reason`, reason),
  };
  return `{"petId":${formatId(`${name}.petId`, petId)},${JSON.stringify(fields).slice(1)}`;
}

function checkChange(name: string, change: StockChange): StockChange {
  const { quantity, delta } = change ?? {};
  const [amount, other] = quantity === undefined ? [delta, quantity] : [quantity, delta];
  if (typeof amount === "number" && other === undefined) return change;
  throw new TypeError(
    `${name} must have either a quantity or a delta, as a number: { petId: 7n, delta: -1 }`,
  );
}

/** Rejects `expectedVersion: undefined`: the change would then apply to any version. */
function readExpectedVersion(name: string, change: StockChange): number | undefined {
  if (!("expectedVersion" in change)) return undefined;
  if (typeof change.expectedVersion === "number") return change.expectedVersion;
  throw new TypeError(
    `${name}.expectedVersion must be a number. Leave it out to change any version`,
  );
}
