import type { Json } from "./json.js";
import {
  type ErrorBody,
  type InventoryItem,
  type Order,
  orderStatusValues,
  type Pet,
  petStatusValues,
} from "./types.js";

// From what was read to what the contract promises. Answers are checked, not trusted: a proxy or a
// wrong address can answer 200 with anything.

// Fields are handed over as `fields.petId`, not by name: engines make that several times faster.
type Fields = { readonly [key: string]: Json };

export function decodeInventory(value: Json): InventoryItem[] {
  return decodeList(value, decodeInventoryItem);
}

/** Frozen, because the client keeps the items of a list and gives them out again. */
export function decodeInventoryItem(value: Json): InventoryItem {
  const fields = readFields(value);
  return Object.freeze({
    petId: readId(fields.petId, "petId"),
    quantity: readInteger(fields.quantity, "quantity"),
    status: readChoice(fields.status, "status", petStatusValues),
  });
}

export function decodePet(value: Json): Pet {
  const fields = readFields(value);
  return {
    id: readId(fields.id, "id"),
    name: readString(fields.name, "name"),
    category: readStringOrNull(fields.category, "category"),
    photoUrls: readStrings(fields.photoUrls, "photoUrls"),
    tags: readStrings(fields.tags, "tags"),
    status: readChoice(fields.status, "status", petStatusValues),
  };
}

export function decodeOrders(value: Json): Order[] {
  return decodeList(value, decodeOrder);
}

function decodeOrder(value: Json): Order {
  const fields = readFields(value);
  return {
    id: readId(fields.id, "id"),
    petId: readId(fields.petId, "petId"),
    quantity: readInteger(fields.quantity, "quantity"),
    shipDate: readStringOrNull(fields.shipDate, "shipDate"),
    status: readChoice(fields.status, "status", orderStatusValues),
    complete: readBoolean(fields.complete, "complete"),
  };
}

export function decodeError(value: Json): ErrorBody {
  const fields = readFields(value);
  return {
    // A later version of the service may send codes that this one does not know.
    code: readString(fields.code, "code"),
    message: readString(fields.message, "message"),
    status: readInteger(fields.status, "status"),
  };
}

function decodeList<T>(value: Json, decode: (item: Json) => T): T[] {
  if (!Array.isArray(value)) throw new TypeError("the body is not an array");
  return value.map((item) => decode(item));
}

function readFields(value: Json): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError("the body is not an object, or holds one that is none");
  }
  return value as Fields;
}

/** See parseWithLongIds for the form that long ids come in. */
const longDigits = /^-?\d{16,19}$/;

function readId(value: Json | undefined, name: string): bigint {
  if (typeof value === "string" && longDigits.test(value)) return BigInt(value);
  return BigInt(readInteger(value, name));
}

function readInteger(value: Json | undefined, name: string): number {
  return Number.isSafeInteger(value) ? (value as number) : refuse(name, "an integer");
}

function readString(value: Json | undefined, name: string): string {
  return typeof value === "string" ? value : refuse(name, "a string");
}

function readStringOrNull(value: Json | undefined, name: string): string | null {
  return value === null ? null : readString(value, name);
}

function readBoolean(value: Json | undefined, name: string): boolean {
  return typeof value === "boolean" ? value : refuse(name, "a boolean");
}

function readStrings(value: Json | undefined, name: string): readonly string[] {
  if (!Array.isArray(value)) return refuse(name, "an array");
  return value.map((item) => (typeof item === "string" ? item : refuse(name, "of strings")));
}

function readChoice<T extends string>(
  value: Json | undefined,
  name: string,
  choices: readonly T[],
): T {
  return choices.find((choice) => choice === value) ?? refuse(name, `one of ${choices.join(", ")}`);
}

function refuse(name: string, rule: string): never {
  throw new TypeError(`${name} is not ${rule}`);
}
