import { readDetails } from "../../domain/catalogue/pet-fields.ts";
import type { Pet } from "../../domain/catalogue/pets.ts";
import {
  type Entry,
  isPetStatus,
  petNotFound,
  petStatuses,
  quantityRule,
  readQuantity,
  type Stock,
} from "../../domain/ledger/inventory.ts";
import { InvalidField, ServiceError } from "../../domain/running/errors.ts";
import * as lifecycle from "../../domain/shop/pet-lifecycle.ts";
import { int64Max, int64Min } from "../../domain/values/int64.ts";
import { JsonNumber } from "../../domain/values/json.ts";
import { queryOf, readPetId, readSeq, singleValue } from "../api/parameters.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { actorOf } from "./actor.ts";
import { versionConflict } from "./conflicts.ts";
import { type Fields, given, readFields, textField } from "./fields.ts";

export async function getPet(context: Context, call: Call): Promise<Reply> {
  return petReply(context, readPetId(call.request));
}

export async function createPet(context: Context, call: Call): Promise<Reply> {
  const fields = await readFields(call);
  const pet = { petId: readId(fields), ...readDetails(fields), ...readStock(fields) };
  const reason = textField(fields, "reason") || null;
  const created = await lifecycle.createPet(context, actorOf(call), pet, reason);
  return { status: 201, body: petJson(created) };
}

/** A request without any known field changes nothing. */
export async function changePet(context: Context, call: Call): Promise<Reply> {
  const petId = readPetId(call.request);
  const changes = readDetails(await readFields(call));
  await lifecycle.changePet(context, actorOf(call), petId, changes);
  return petReply(context, petId);
}

export async function removePet(context: Context, call: Call): Promise<Reply> {
  const petId = readPetId(call.request);
  const query = queryOf(call.request);
  const expectedVersion = readSeq(query, "expectedVersion");
  const reason = singleValue(query, "reason") || null;
  const actor = actorOf(call);
  const conflict = await lifecycle.removePet(context, actor, petId, expectedVersion, reason);
  if (conflict) throw await versionConflict(context, conflict.current);
  return { status: 204, body: null };
}

/** The stock is that of the entry, of which only the version is known. */
async function petReply({ store }: Context, petId: bigint): Promise<Reply> {
  const pet = await store.catalogue.findPet(petId);
  const found = await store.history.findEntry(petId);
  if (!pet || !found) throw new ServiceError("not_found", petNotFound);
  return { status: 200, body: petJson({ ...pet, ...found.entry }) };
}

function petJson({ petId, status, version, ...rest }: Pet & Entry): string {
  return `{"petId":${petId},${JSON.stringify({ ...rest, status, version }).slice(1)}`;
}

export const petIdFieldRule = "is required and must be a 64-bit integer";

function readId(fields: Fields): bigint {
  const value = given(fields, "petId");
  const id = value instanceof JsonNumber ? value.toInteger() : undefined;
  if (typeof id === "bigint" && id >= int64Min && id <= int64Max) return id;
  throw new InvalidField("petId", petIdFieldRule);
}

function readStock(fields: Fields): Partial<Stock> {
  const status = textField(fields, "status");
  if (status !== undefined && !isPetStatus(status)) {
    throw new InvalidField("status", `must be one of ${petStatuses.join(", ")}`);
  }
  const sent = given(fields, "quantity");
  const quantity = sent === undefined ? undefined : readQuantity(sent);
  if (sent !== undefined && quantity === undefined) {
    throw new InvalidField("quantity", quantityRule);
  }
  return { ...(status && { status }), ...(quantity !== undefined && { quantity }) };
}
