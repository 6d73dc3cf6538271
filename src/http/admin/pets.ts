import { readDetails, valueTaken } from "../../domain/catalogue/pet-fields.ts";
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
import { namedPetsMax } from "../../domain/values/bounds.ts";
import { int64Pattern, parseInt64 } from "../../domain/values/int64.ts";
import { reasonCharactersMax } from "../../domain/values/texts.ts";
import { readId } from "../api/change-list.ts";
import { json } from "../api/contract/contract.ts";
import { reference } from "../api/contract/schema.ts";
import { jsonBody, mergePatchBody } from "../api/declaration.ts";
import {
  integerParameter,
  petIdParameter,
  queryParameter,
  readParameter,
  seqBounds,
} from "../api/parameters.ts";
import { bodyMessages, type Fields, given, queryOf, textOf } from "../messages/fields.ts";
import type { Reply } from "../messages/reply.ts";
import { readPetId } from "../messages/requests.ts";
import type { Context } from "../pipeline/context.ts";
import type { AdminDeclaration } from "./admin-declaration.ts";
import { exampleConflict, versionConflict } from "./conflicts.ts";
import { fieldReader, textField } from "./fields.ts";

const notFound = { not_found: { not_found: petNotFound } };

const barcodeTaken = { barcode_taken: valueTaken("Barcode", "4006381333931", 7n) };

const petIdFieldRule = "is required and must be a 64-bit integer";

const petIds = queryParameter({
  name: "ids",
  description: "The IDs of the pets, separated by commas.",
  required: true,
  schema: { type: "string", pattern: `^${int64Pattern}(,${int64Pattern}){0,${namedPetsMax - 1}}$` },
  example: "7,31",
  rule: `is required and must be 1 to ${namedPetsMax} ids of pets, separated by commas`,
  parse(text) {
    const ids = text.split(",", namedPetsMax + 1).map(parseInt64);
    const found = ids.filter((id) => id !== undefined);
    return found.length === ids.length && ids.length <= namedPetsMax ? found : undefined;
  },
});

/** Returns the names of the pets with these ids. Those that do not exist are left out. */
const listPetNames: AdminDeclaration = {
  method: "GET",
  path: "/pets",
  contract: {
    summary: "Find the names of pets",
    description: `Returns the names of up to ${namedPetsMax} pets, by ascending \`petId\`. Pets that do not exist are left out. The ledger and the feed contain only IDs.`,
    parameters: [petIds],
    success: {
      200: {
        description: "The names.",
        schema: { type: "array", items: reference("schemas", "PetName"), maxItems: namedPetsMax },
      },
    },
  },
  async handle({ store }, { request }) {
    const found = await store.catalogue.namesOf(readParameter(queryOf(request), petIds)!);
    return { status: 200, body: `[${found.map(petNameJson).join()}]` };
  },
};

const createPet: AdminDeclaration = {
  method: "POST",
  path: "/pets",
  body: jsonBody,
  kind: "making",
  contract: {
    summary: "Add a pet",
    description:
      "Adds a pet to the catalogue and to the inventory. A pet with the ID of one that was removed continues its history.",
    body: json("The pet.", "NewPet"),
    success: { 201: json("The new pet.", "PetDetails") },
    messages: {
      invalid_request: {
        ...bodyMessages,
        invalid_petId_field: `Field 'petId' ${petIdFieldRule}.`,
        name_required: "Field 'name' is required.",
      },
      already_exists: { already_exists: petExists(31n), ...barcodeTaken },
    },
  },
  async run(context, { actor }, fields) {
    const petId = readId(given(fields, "petId"));
    if (petId === undefined) throw new InvalidField("petId", petIdFieldRule);
    const pet = { petId, ...readDetails(fields), ...readStock(fields) };
    const reason = textField(fields, "reason") || null;
    const created = await lifecycle.createPet(context, actor, pet, reason);
    return { status: 201, body: petJson(created) };
  },
};

const getPet: AdminDeclaration = {
  method: "GET",
  path: "/pets/{petId}",
  contract: {
    summary: "Get a pet",
    description: "Returns one pet with its stock.",
    parameters: [petIdParameter],
    success: { 200: json("The pet.", "PetDetails") },
    messages: notFound,
  },
  handle: (context, { request }) => petReply(context, readPetId(request.params?.petId)),
};

/** A request without any known field changes nothing. */
const changePet: AdminDeclaration = {
  method: "PATCH",
  path: "/pets/{petId}",
  body: mergePatchBody,
  kind: "repeatable",
  contract: {
    summary: "Change a pet",
    description:
      "Changes the details of a pet, such as its name. The audit log keeps the change. To change its quantity or status, use `PATCH /stock/{petId}`.",
    parameters: [petIdParameter],
    body: json("The fields to change.", "PetChange", {
      examples: { name: { summary: "Another name", value: { name: "Pepper" } } },
    }),
    success: { 200: json("The changed pet.", "PetDetails") },
    messages: { invalid_request: bodyMessages, ...notFound, already_exists: barcodeTaken },
  },
  async run(context, { actor }, fields) {
    const petId = readPetId(textOf(fields, "petId"));
    await lifecycle.changePet(context, actor, petId, readDetails(fields));
    return petReply(context, petId);
  },
};

const expectedVersion = integerParameter(
  "expectedVersion",
  seqBounds,
  "The `version` that the entry must have. Without it, any version is accepted.",
  1207,
);

const removePet: AdminDeclaration = {
  method: "DELETE",
  path: "/pets/{petId}",
  kind: "repeatable",
  contract: {
    summary: "Remove a pet",
    description:
      "Removes a pet from the catalogue and from the inventory. Its history stays. This cannot be undone: the name and the other details are gone. If the entry does not have the `expectedVersion`, nothing is changed, and the message says what is stored now and who changed it.",
    parameters: [
      petIdParameter,
      expectedVersion,
      {
        name: "reason",
        in: "query",
        description: "Why the pet is removed. The ledger keeps it.",
        schema: { type: "string", maxLength: reasonCharactersMax },
        example: "No longer sold",
      },
    ],
    success: { 204: { description: "The pet is removed." } },
    messages: { ...notFound, version_conflict: { version_conflict: exampleConflict } },
  },
  async run(context, { actor }, fields) {
    const petId = readPetId(textOf(fields, "petId"));
    const expected = readParameter(fields, expectedVersion);
    const reason = textField(fields, "reason") || null;
    const conflict = await lifecycle.removePet(context, actor, petId, expected, reason);
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

const quantityField = fieldReader(quantityRule, readQuantity);

function readStock(fields: Fields): Partial<Stock> {
  const status = textField(fields, "status");
  if (status !== undefined && !isPetStatus(status)) {
    throw new InvalidField("status", `must be one of ${petStatuses.join(", ")}`);
  }
  const quantity = quantityField(fields, "quantity");
  return { ...(status && { status }), ...(quantity !== undefined && { quantity }) };
}

const petNameJson = (pet: PetName) => `{${petNameFields(pet)}}`;

/** The fields of a PetName. Most pets have no barcode and no limit, and there can be a million. */
export function petNameFields({ petId, name, category, barcode, lowStockAt }: PetName): string {
  const fields = `"petId":${petId},"name":${JSON.stringify(name)},"category":${JSON.stringify(category)}`;
  const code = barcode === null ? "" : `,"barcode":${JSON.stringify(barcode)}`;
  return fields + code + (lowStockAt === null ? "" : `,"lowStockAt":${lowStockAt}`);
}

export const petOperations = { listPetNames, createPet, getPet, changePet, removePet };
