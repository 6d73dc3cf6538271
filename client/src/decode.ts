import type { InventoryEntry } from "./entry.js";
import {
  checkBoolean,
  checkChoice,
  checkInteger,
  checkString,
  checkStringOrNull,
  checkStrings,
  decodeList,
  type Fields,
  fail,
  readFields,
  readId,
} from "./fields.js";
import { type Json, withToJson } from "./json.js";
import {
  type FailedLine,
  type InventoryItem,
  type Order,
  orderStatusValues,
  type Pet,
  petStatusValues,
} from "./types.js";

// Checks parsed responses and converts ids to bigint. A proxy or a wrong base URL can return any body
// with status 200, so every field is checked. Unknown fields are kept, so that a later version of the
// service can add some.

export function decodeInventory(value: Json): InventoryItem[] {
  return decodeList(value, decodeInventoryItem);
}

/** Freezes the item, because the client caches the list and returns its items again. */
function decodeInventoryItem(value: Json): InventoryItem {
  return Object.freeze(withToJson(readItem(value))) as unknown as InventoryItem;
}

/** Returns a decoder that adds the `ETag` of the response to the item. */
export function decodeEntry(etag: string): (value: Json) => InventoryEntry {
  return (value) =>
    Object.freeze(withToJson({ ...readItem(value), etag })) as unknown as InventoryEntry;
}

function readItem(value: Json): Fields {
  const fields = readFields(value);
  fields.petId = readId(fields.petId, "petId");
  checkInteger(fields.quantity, "quantity");
  checkChoice(fields.status, "status", petStatusValues);
  return fields;
}

/** Every field of a pet has a check here, or this does not compile. */
const petChecks: Record<Exclude<keyof Pet, "id">, (value: unknown, name: string) => void> = {
  name: checkString,
  category: checkStringOrNull,
  photoUrls: checkStrings,
  tags: checkStrings,
  barcode: (value, name) => value !== undefined && checkString(value, name),
  lowStockAt: (value, name) => value !== undefined && checkInteger(value, name),
  status: (value, name) => checkChoice(value, name, petStatusValues),
};

export function decodePet(value: Json): Pet {
  const fields = readFields(value);
  fields.id = readId(fields.id, "id");
  for (const [name, check] of Object.entries(petChecks)) check(fields[name], name);
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
  checkBoolean(fields.complete, "complete");
  return withToJson(fields) as unknown as Order;
}

/** Keeps an unknown code as it is: a later version of the service may add codes. */
export function decodeError(value: Json) {
  const { code, message, status, details } = readFields(value);
  if (typeof code !== "string" || code === "") return fail("code", "a string");
  if (typeof message !== "string") return fail("message", "a string");
  checkInteger(status, "status");
  return { code, message, details: readDetails(details as Json | undefined) };
}

/** Undefined also for details of a kind that only a later version of the service has. */
function readDetails(value: Json | undefined): readonly FailedLine[] | undefined {
  try {
    return decodeList(value, decodeFailedLine);
  } catch {
    return undefined;
  }
}

function decodeFailedLine(value: Json): FailedLine {
  const fields = readFields(value);
  checkInteger(fields.index, "index");
  fields.petId = readId(fields.petId, "petId");
  checkString(fields.code, "code");
  for (const name of ["requested", "available"]) {
    if (fields[name] !== undefined) checkInteger(fields[name], name);
  }
  return withToJson(fields) as unknown as FailedLine;
}
