import type { Committer } from "./commits.ts";
import { Refusal } from "./errors.ts";
import type { Caller } from "./keys.ts";
import type { Change } from "./ledger.ts";
import { petNotFound } from "./pets.ts";
import { integerAsWritten } from "./values/int64.ts";
import { isJsonObject, JsonNumber, parseJson } from "./values/json.ts";

export const petStatuses = ["available", "pending", "sold"] as const;
export type PetStatus = (typeof petStatuses)[number];

export function isPetStatus(value: unknown): value is PetStatus {
  return (petStatuses as readonly unknown[]).includes(value);
}

/** What the shop knows of one pet's stock. */
export interface Stock {
  readonly quantity: number;
  readonly status: PetStatus;
}

/** One pet's stock: `version` is the `seq` of the ledger row that last changed it. */
export interface Entry extends Stock {
  readonly petId: bigint;
  readonly version: number;
}

/** The largest count that every JSON client reads exactly: 2^53 - 1. */
export const quantityMax = Number.MAX_SAFE_INTEGER;

const quantityRule = `must be an integer from 0 to ${quantityMax}`;

/** The quantity a JSON value stands for, or undefined if it breaks the rule. */
export function readQuantity(value: unknown): number | undefined {
  if (!(value instanceof JsonNumber)) return undefined;
  return quantityFromText(value.source);
}

function quantityFromText(source: string): number | undefined {
  const integer = integerAsWritten(source);
  if (typeof integer !== "bigint" || integer < 0n || integer > BigInt(quantityMax)) {
    return undefined;
  }
  return Number(integer);
}

/**
 * The body nearly every client sends; anything else takes the thorough way below. JSON knows four
 * kinds of white space; \s would let a no-break space pass.
 */
const plainUpdate =
  /^[ \t\n\r]*\{[ \t\n\r]*"quantity"[ \t\n\r]*:[ \t\n\r]*(0|[1-9][0-9]{0,14})[ \t\n\r]*\}[ \t\n\r]*$/;

/** Reads the body of a stock update: the new quantity, or a refusal that names the broken rule. */
export function parseInventoryUpdate(text: string): number {
  const plain = plainUpdate.exec(text);
  if (plain) return Number(plain[1]);
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    throw new Refusal("invalid_request", "The body is not valid JSON.");
  }
  if (!isJsonObject(body)) {
    throw new Refusal(
      "invalid_request",
      "The body must be a JSON object with the field 'quantity'.",
    );
  }
  if (!Object.hasOwn(body, "quantity")) {
    throw new Refusal("invalid_request", `Field 'quantity' is required and ${quantityRule}.`);
  }
  const quantity = readQuantity(body.quantity);
  if (quantity === undefined) {
    throw new Refusal("invalid_request", `Field 'quantity' ${quantityRule}.`);
  }
  return quantity;
}

export interface StockUpdate {
  readonly petId: bigint;
  readonly quantity: number;
  readonly requestId: string;
  /** Aborted when the connection that asked is gone. */
  readonly signal: AbortSignal;
}

/** Records a new stock count and answers with the entry once the change is durable. */
export async function setQuantity(
  committer: Committer,
  caller: Caller,
  update: StockUpdate,
): Promise<Entry> {
  const change: Change = {
    petId: update.petId,
    quantity: update.quantity,
    cause: "api",
    keyId: caller.keyId,
    requestId: update.requestId,
    reason: null,
  };
  const outcome = await committer.submit(change, update.signal);
  if (outcome === "not_found") throw new Refusal(outcome, petNotFound);
  return outcome;
}
