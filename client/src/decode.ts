import type { Json } from "./json.ts";
import {
  type ErrorBody,
  errorCodeValues,
  type InventoryItem,
  type Order,
  orderStatusValues,
  type Pet,
  petStatusValues,
} from "./types.ts";

// From what was read to what the contract promises. Answers are checked, not trusted: a proxy or a
// wrong address can answer 200 with anything, and a list that is cached is shared, hence frozen.

type Fields = { readonly [key: string]: Json };

export function decodeInventory(value: Json): readonly InventoryItem[] {
  return decodeList(value, decodeInventoryItem);
}

export function decodeInventoryItem(value: Json): InventoryItem {
  const fields = readFields(value);
  return Object.freeze({
    petId: readId(fields, "petId"),
    quantity: readInteger(fields, "quantity"),
    status: readChoice(fields, "status", petStatusValues),
  });
}

export function decodePet(value: Json): Pet {
  const fields = readFields(value);
  return Object.freeze({
    id: readId(fields, "id"),
    name: readString(fields, "name"),
    category: readStringOrNull(fields, "category"),
    photoUrls: readStrings(fields, "photoUrls"),
    tags: readStrings(fields, "tags"),
    status: readChoice(fields, "status", petStatusValues),
  });
}

export function decodeOrders(value: Json): readonly Order[] {
  return decodeList(value, decodeOrder);
}

function decodeOrder(value: Json): Order {
  const fields = readFields(value);
  return Object.freeze({
    id: readId(fields, "id"),
    petId: readId(fields, "petId"),
    quantity: readInteger(fields, "quantity"),
    shipDate: readStringOrNull(fields, "shipDate"),
    status: readChoice(fields, "status", orderStatusValues),
    complete: readBoolean(fields, "complete"),
  });
}

export function decodeError(value: Json): ErrorBody {
  const fields = readFields(value);
  return {
    code: readChoice(fields, "code", errorCodeValues),
    message: readString(fields, "message"),
    status: readInteger(fields, "status"),
  };
}

function decodeList<T>(value: Json, decode: (item: Json) => T): readonly T[] {
  if (!Array.isArray(value)) throw new TypeError("the body is not an array");
  return Object.freeze(value.map((item) => decode(item)));
}

function readFields(value: Json): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError("the body is not an object, or holds one that is none");
  }
  return value as Fields;
}

function readId(fields: Fields, name: string): bigint {
  const value = fields[name];
  if (typeof value === "bigint") return value;
  return BigInt(readInteger(fields, name));
}

function readInteger(fields: Fields, name: string): number {
  const value = fields[name];
  return Number.isSafeInteger(value) ? (value as number) : refuse(name, "an integer");
}

function readString(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === "string" ? value : refuse(name, "a string");
}

function readStringOrNull(fields: Fields, name: string): string | null {
  return fields[name] === null ? null : readString(fields, name);
}

function readBoolean(fields: Fields, name: string): boolean {
  const value = fields[name];
  return typeof value === "boolean" ? value : refuse(name, "a boolean");
}

function readStrings(fields: Fields, name: string): readonly string[] {
  const value = fields[name];
  if (!Array.isArray(value)) return refuse(name, "an array");
  return Object.freeze(
    value.map((item) => (typeof item === "string" ? item : refuse(name, "of strings"))),
  );
}

function readChoice<T extends string>(fields: Fields, name: string, choices: readonly T[]): T {
  const value = fields[name];
  // The value of the list is returned, not the one read: a slice may keep the whole answer in memory.
  return choices.find((choice) => choice === value) ?? refuse(name, `one of ${choices.join(", ")}`);
}

function refuse(name: string, rule: string): never {
  throw new TypeError(`${name} is not ${rule}`);
}
