import { readDetails } from "../../domain/catalogue/pet-fields.ts";
import type { Pet, PetName } from "../../domain/catalogue/pets.ts";
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
import { petExists } from "../../domain/shop/pet-lifecycle.ts";
import { int64Max, int64Min, int64Pattern, parseInt64 } from "../../domain/values/int64.ts";
import { JsonNumber } from "../../domain/values/json.ts";
import { reasonCharactersMax } from "../../domain/values/texts.ts";
import { boundedInteger, reference } from "../api/contract/schema.ts";
import { jsonBody, mergePatchBody } from "../api/operation.ts";
import {
  petIdParameter,
  petIdRule,
  queryOf,
  readPetId,
  readSeq,
  seqRule,
  singleValue,
} from "../api/parameters.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import { exampleConflict, versionConflict } from "./conflicts.ts";
import { bodyMessages, type Fields, given, readFields, textField } from "./fields.ts";
import { type AdminDeclaration, actorOf } from "./operation.ts";

const tag = "Pets";

const notFound = { not_found: { not_found: petNotFound } };

const invalidId = { invalid_petId: petIdRule };

const one = { schema: reference("schemas", "PetDetails") };

const petIdFieldRule = "is required and must be a 64-bit integer";

const namedPetsMax = 200;

const petIdsPattern = `^${int64Pattern}(,${int64Pattern}){0,${namedPetsMax - 1}}$`;

const petIdsRule = `Query parameter 'ids' is required and must be 1 to ${namedPetsMax} ids of pets, separated by commas.`;

/** Returns the names of the pets with these ids. Those that do not exist are left out. */
const listPetNames: AdminDeclaration = {
  method: "GET",
  path: "/pets",
  contract: {
    tag,
    summary: "Find the names of pets",
    description: `Returns the names of up to ${namedPetsMax} pets, by ascending \`petId\`. Pets that do not exist are left out. The ledger and the feed contain only IDs.`,
    parameters: [
      {
        name: "ids",
        in: "query",
        required: true,
        description: "The IDs of the pets, separated by commas.",
        schema: { type: "string", pattern: petIdsPattern },
        example: "7,31",
      },
    ],
    success: {
      200: {
        description: "The names.",
        schema: { type: "array", items: reference("schemas", "PetName"), maxItems: namedPetsMax },
      },
    },
    messages: { invalid_request: { invalid_ids: petIdsRule } },
  },
  async handle({ store }, { request }) {
    const petIds = readPetIds(queryOf(request));
    const found = await store.catalogue.namesOf(petIds);
    return { status: 200, body: `[${found.map(petNameJson).join()}]` };
  },
};

const createPet: AdminDeclaration = {
  method: "POST",
  path: "/pets",
  body: jsonBody,
  contract: {
    tag,
    summary: "Add a pet",
    description:
      "Adds a pet to the catalogue and to the inventory. A pet with the ID of one that was removed continues its history.",
    body: {
      description: "The pet.",
      schema: reference("schemas", "NewPet"),
    },
    success: { 201: { description: "The new pet.", ...one } },
    errors: ["already_exists"],
    messages: {
      invalid_request: {
        ...bodyMessages,
        invalid_petId_field: `Field 'petId' ${petIdFieldRule}.`,
        name_required: "Field 'name' is required.",
      },
      already_exists: { already_exists: petExists(31n) },
    },
  },
  async handle(context, call) {
    const fields = await readFields(call);
    const pet = { petId: readId(fields), ...readDetails(fields), ...readStock(fields) };
    const reason = textField(fields, "reason") || null;
    const created = await lifecycle.createPet(context, actorOf(call), pet, reason);
    return { status: 201, body: petJson(created) };
  },
};

const getPet: AdminDeclaration = {
  method: "GET",
  path: "/pets/{petId}",
  contract: {
    tag,
    summary: "Get a pet",
    description: "Returns one pet with its stock.",
    parameters: [petIdParameter],
    success: { 200: { description: "The pet.", ...one } },
    errors: ["not_found"],
    messages: { invalid_request: invalidId, ...notFound },
  },
  async handle(context, call) {
    return petReply(context, readPetId(call.request));
  },
};

/** A request without any known field changes nothing. */
const changePet: AdminDeclaration = {
  method: "PATCH",
  path: "/pets/{petId}",
  body: mergePatchBody,
  contract: {
    tag,
    summary: "Change a pet",
    description:
      "Changes the details of a pet, such as its name. The audit log keeps the change. To change its quantity or status, use `PATCH /stock/{petId}`.",
    parameters: [petIdParameter],
    body: {
      description: "The fields to change.",
      schema: reference("schemas", "PetChange"),
      examples: { name: { summary: "Another name", value: { name: "Pepper" } } },
    },
    success: { 200: { description: "The changed pet.", ...one } },
    errors: ["not_found"],
    messages: {
      invalid_request: { ...bodyMessages, ...invalidId },
      ...notFound,
    },
  },
  async handle(context, call) {
    const petId = readPetId(call.request);
    const changes = readDetails(await readFields(call));
    await lifecycle.changePet(context, actorOf(call), petId, changes);
    return petReply(context, petId);
  },
};

const removePet: AdminDeclaration = {
  method: "DELETE",
  path: "/pets/{petId}",
  contract: {
    tag,
    summary: "Remove a pet",
    description:
      "Removes a pet from the catalogue and from the inventory. Its history stays. This cannot be undone: the name and the other details are gone. If the entry does not have the `expectedVersion`, nothing is changed, and the message says what is stored now and who changed it.",
    parameters: [
      petIdParameter,
      {
        name: "expectedVersion",
        in: "query",
        description: "The `version` that the entry must have. Without it, any version is accepted.",
        schema: boundedInteger(0, Number.MAX_SAFE_INTEGER),
        example: 1207,
      },
      {
        name: "reason",
        in: "query",
        description: "Why the pet is removed. The ledger keeps it.",
        schema: { type: "string", maxLength: reasonCharactersMax },
        example: "No longer sold",
      },
    ],
    success: { 204: { description: "The pet is removed." } },
    errors: ["not_found", "version_conflict"],
    messages: {
      invalid_request: { ...invalidId, invalid_version: seqRule("expectedVersion") },
      ...notFound,
      version_conflict: { version_conflict: exampleConflict },
    },
  },
  async handle(context, call) {
    const petId = readPetId(call.request);
    const query = queryOf(call.request);
    const expectedVersion = readSeq(query, "expectedVersion");
    const reason = singleValue(query, "reason") || null;
    const actor = actorOf(call);
    const conflict = await lifecycle.removePet(context, actor, petId, expectedVersion, reason);
    if (conflict) throw await versionConflict(context, conflict.current);
    return { status: 204, body: null };
  },
};

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

function readPetIds(query: URLSearchParams): readonly bigint[] {
  const texts = singleValue(query, "ids")?.split(",", namedPetsMax + 1) ?? [];
  const petIds = texts.map(parseInt64).filter((petId) => petId !== undefined);
  const isValid = petIds.length === texts.length && texts.length <= namedPetsMax;
  if (isValid && petIds.length > 0) return petIds;
  throw new ServiceError("invalid_request", petIdsRule);
}

function petNameJson({ petId, name, category }: PetName): string {
  return `{"petId":${petId},"name":${JSON.stringify(name)},"category":${JSON.stringify(category)}}`;
}

export const petOperations = { listPetNames, createPet, getPet, changePet, removePet };
