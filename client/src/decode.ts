import { type Json, withToJson } from "./json.js";
import {
  type InventoryItem,
  type Order,
  orderStatusValues,
  type Pet,
  petStatusValues,
} from "./types.js";

// Checks parsed responses and converts ids to bigint. A proxy or a wrong base URL can return any body
// with status 200, so every field is checked. Unknown fields are kept, so that a later version of the
// service can add some.

/** An object from JSON.parse. No other code uses it, so ids are replaced in place, without a copy. */
type Fields = { [key: string]: Json | bigint };

export function decodeInventory(value: Json): InventoryItem[] {
  return decodeList(value, decodeInventoryItem);
}

/** Freezes the item, because the client caches the list and returns its items again. */
export function decodeInventoryItem(value: Json): InventoryItem {
  const fields = readFields(value);
  fields.petId = readId(fields.petId, "petId");
  checkInteger(fields.quantity, "quantity");
  checkChoice(fields.status, "status", petStatusValues);
  return Object.freeze(withToJson(fields)) as unknown as InventoryItem;
}

export function decodePet(value: Json): Pet {
  const fields = readFields(value);
  fields.id = readId(fields.id, "id");
  checkString(fields.name, "name");
  checkStringOrNull(fields.category, "category");
  checkStrings(fields.photoUrls, "photoUrls");
  checkStrings(fields.tags, "tags");
  checkChoice(fields.status, "status", petStatusValues);
  return withToJson(fields) as unknown as Pet;
}

export function decodeOrders(value: Json): Order[] {
  return decodeList(value, decodeOrder);
}

function decodeOrder(value: Json): Order {
  const fields = readFields(value);
  fields.id = readId(fields.id, "id");
  fields.petId = readId(fields.petId, "petId");
  checkInteger(fields.quantity, "quantity");
  checkStringOrNull(fields.shipDate, "shipDate");
  checkChoice(fields.status, "status", orderStatusValues);
  if (typeof fields.complete !== "boolean") fail("complete", "a boolean");
  return withToJson(fields) as unknown as Order;
}

/** Keeps an unknown code as it is: a later version of the service may add codes. */
export function decodeError(value: Json): { readonly code: string; readonly message: string } {
  const { code, message, status } = readFields(value);
  if (typeof code !== "string" || code === "") return fail("code", "a string");
  if (typeof message !== "string") return fail("message", "a string");
  checkInteger(status, "status");
  return { code, message };
}

function decodeList<T>(value: Json, decode: (item: Json) => T): T[] {
  if (!Array.isArray(value)) throw new TypeError("expected an array");
  return value.map((item) => decode(item));
}

function readFields(value: Json): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError("expected an object");
  }
  return value as Fields;
}

/** The form of long ids after parseWithLongIds. */
const longDigits = /^-?\d{16,19}$/;

function readId(value: Fields[string] | undefined, name: string): bigint {
  if (typeof value === "string" && longDigits.test(value)) return BigInt(value);
  checkInteger(value, name);
  return BigInt(value as number);
}

function checkInteger(value: unknown, name: string): void {
  if (!Number.isSafeInteger(value)) fail(name, "an integer");
}

function checkString(value: unknown, name: string): void {
  if (typeof value !== "string") fail(name, "a string");
}

function checkStringOrNull(value: unknown, name: string): void {
  if (value !== null) checkString(value, name);
}

function checkStrings(value: unknown, name: string): void {
  const isValid = Array.isArray(value) && value.every((item) => typeof item === "string");
  if (!isValid) fail(name, "an array of strings");
}

function checkChoice(value: unknown, name: string, choices: readonly unknown[]): void {
  if (!choices.includes(value)) fail(name, `one of ${choices.join(", ")}`);
}

function fail(name: string, rule: string): never {
  throw new TypeError(`${name} is not ${rule}`);
}
