import { petNotFound } from "../../../domain/ledger/inventory.ts";
import { petExists } from "../../../domain/shop/pet-lifecycle.ts";
import { reasonCharactersMax } from "../../../domain/values/reasons.ts";
import { boundedInteger, reference } from "../../api/contract/schema.ts";
import { petIdParameter, petIdRule, seqRule } from "../../api/parameters.ts";
import { jsonTypes, mergePatchTypes } from "../../messages/body.ts";
import { namedPetsMax, petIdsPattern, petIdsRule } from "../pet-names.ts";
import { petIdFieldRule } from "../pets.ts";
import { bodyErrors, bodyMessages, mediaMessages } from "./body-errors.ts";
import { exampleConflict } from "./changes.ts";
import type { AdminContract } from "./operation.ts";
import { exampleFullPet, exampleNewPet, examplePetName } from "./stock-schemas.ts";

const tag = "Pets";
const notFound = { not_found: { not_found: petNotFound } };
const invalidId = { invalid_petId: petIdRule };
const one = {
  schema: reference("schemas", "PetDetails"),
  examples: { pet: { summary: "A pet", value: exampleFullPet } },
};

export const listPetNames: AdminContract = {
  tag,
  summary: "Find the names of pets",
  description: `Returns the names of up to ${namedPetsMax} pets, by ascending \`petId\`. Pets that do not exist are left out. The ledger and the feed contain only ids.`,
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
      examples: { names: { summary: "One pet", value: [examplePetName] } },
    },
  },
  errors: ["invalid_request"],
  messages: { invalid_request: { invalid_ids: petIdsRule } },
};

export const getPet: AdminContract = {
  tag,
  summary: "Get a pet",
  description: "Returns one pet with its stock.",
  parameters: [petIdParameter],
  success: { 200: { description: "The pet.", ...one } },
  errors: ["invalid_request", "not_found"],
  messages: { invalid_request: invalidId, ...notFound },
};

export const createPet: AdminContract = {
  tag,
  summary: "Add a pet",
  description:
    "Adds a pet to the catalogue and to the inventory. A pet with the ID of one that was removed continues its history.",
  body: {
    description: "The pet.",
    schema: reference("schemas", "NewPet"),
    examples: { pet: { summary: "Two in stock", value: exampleNewPet } },
  },
  success: { 201: { description: "The new pet.", ...one } },
  errors: [...bodyErrors, "already_exists"],
  messages: {
    invalid_request: {
      ...bodyMessages,
      invalid_petId_field: `Field 'petId' ${petIdFieldRule}.`,
      name_required: "Field 'name' is required.",
    },
    ...mediaMessages(jsonTypes),
    already_exists: { already_exists: petExists(31n) },
  },
};

export const changePet: AdminContract = {
  tag,
  summary: "Change a pet",
  description:
    "Changes the details of a pet, such as its name. The audit log keeps the change. Quantity and status are changed with the stock.",
  parameters: [petIdParameter],
  body: {
    description: "The fields to change.",
    schema: reference("schemas", "PetChange"),
    examples: { name: { summary: "Another name", value: { name: "Pepper" } } },
  },
  success: { 200: { description: "The changed pet.", ...one } },
  errors: [...bodyErrors, "not_found"],
  messages: {
    invalid_request: { ...bodyMessages, ...invalidId },
    ...mediaMessages(mergePatchTypes),
    ...notFound,
  },
};

export const removePet: AdminContract = {
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
  errors: ["invalid_request", "not_found", "version_conflict"],
  messages: {
    invalid_request: { ...invalidId, invalid_version: seqRule("expectedVersion") },
    ...notFound,
    version_conflict: { version_conflict: exampleConflict },
  },
};
