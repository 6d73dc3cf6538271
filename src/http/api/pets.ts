import { petsDeprecatedAt } from "../../domain/catalogue/pets.ts";
import { petNotFound } from "../../domain/ledger/inventory.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { readPetId } from "../messages/requests.ts";
import { json } from "./contract/contract.ts";
import {
  exampleBarePet,
  examplePet,
  leftOutFields,
  shownFields,
  shownProperties,
} from "./contract/pet-schemas.ts";
import { int64, petStatus, responseObject, type Schema } from "./contract/schema.ts";
import type { Declaration } from "./declaration.ts";
import { petIdParameter } from "./parameters.ts";

export const petSchemas: Readonly<Record<string, Schema>> = {
  Pet: responseObject(
    "A pet in the catalogue.",
    {
      id: int64("The ID of the pet. The inventory calls it `petId`."),
      ...shownProperties,
      status: petStatus("The status of the pet. Its inventory entry has the same status."),
    },
    examplePet,
    leftOutFields,
  ),
};

const getPet: Declaration = {
  method: "GET",
  path: "/pets/{petId}",
  scope: "pets:read",
  stability: "stable",
  deprecation: { since: petsDeprecatedAt, sunsetAt: "petsSunsetAt" },
  contract: {
    summary: "Get a pet",
    description: `Returns one pet from the catalogue.

*Deprecated:* do not use this operation in new code. It works unchanged until the date in \`Sunset\`, then returns 410.`,
    parameters: [petIdParameter],
    success: {
      200: json("The pet.", "Pet", {
        examples: {
          full: { summary: "All fields set", value: examplePet },
          bare: { summary: "Only the name set", value: exampleBarePet },
        },
      }),
    },
    errors: ["not_found", "gone"],
  },
  async handle({ store }, call) {
    const pet = await store.catalogue.findPet(readPetId(call.request.params?.petId));
    if (!pet) throw new ServiceError("not_found", petNotFound);
    const shown = shownFields
      .filter(({ name, isLeftOutIfNull }) => !(isLeftOutIfNull && pet[name] === null))
      .map(({ name }): string => name);
    const rest = JSON.stringify(pet, [...shown, "status"]);
    return { status: 200, body: `{"id":${pet.petId},${rest.slice(1)}` };
  },
};

export const petOperations = { getPet };
