import type { Json } from "./json.js";
import { withToJson } from "./serialize.js";
import {
  type InventoryItem,
  type Order,
  orderStatusValues,
  type Pet,
  petStatusValues,
} from "./types.js";

// From what was read to what the contract promises. Responses are checked, not trusted: a proxy or
// a wrong address can answer 200 with anything. Fields that this version does not know stay as
// they are, so that a newer service can add some.

/** An object as JSON.parse made it. It is ours, so ids are replaced in place: a copy costs more. */
type Fields = { [key: string]: Json | bigint };

export function decodeInventory(value: Json): InventoryItem[] {
  return decodeList(value, decodeInventoryItem);
}

/** Frozen, because the client keeps the items of a list and gives them out again. */
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
  if (typeof fields.complete !== "boolean") refuse("complete", "a boolean");
  return withToJson(fields) as unknown as Order;
}

/** The code is kept as it was sent: the service may have learnt new ones. */
export function decodeError(value: Json): { readonly code: string; readonly message: string } {
  const { code, message, status } = readFields(value);
  if (typeof code !== "string" || code === "") return refuse("code", "a string");
  if (typeof message !== "string") return refuse("message", "a string");
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

/** See parseWithLongIds for the form that long ids come in. */
const longDigits = /^-?\d{16,19}$/;

function readId(value: Fields[string] | undefined, name: string): bigint {
  if (typeof value === "string" && longDigits.test(value)) return BigInt(value);
  checkInteger(value, name);
  return BigInt(value as number);
}

function checkInteger(value: unknown, name: string): void {
  if (!Number.isSafeInteger(value)) refuse(name, "an integer");
}

function checkString(value: unknown, name: string): void {
  if (typeof value !== "string") refuse(name, "a string");
}

function checkStringOrNull(value: unknown, name: string): void {
  if (value !== null) checkString(value, name);
}

function checkStrings(value: unknown, name: string): void {
  const isFit = Array.isArray(value) && value.every((item) => typeof item === "string");
  if (!isFit) refuse(name, "an array of strings");
}

function checkChoice(value: unknown, name: string, choices: readonly unknown[]): void {
  if (!choices.includes(value)) refuse(name, `one of ${choices.join(", ")}`);
}

function refuse(name: string, rule: string): never {
  throw new TypeError(`${name} is not ${rule}`);
}
