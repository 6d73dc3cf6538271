import { petsDeprecatedAt } from "../../domain/catalogue/pets.ts";
import { petNotFound } from "../../domain/ledger/inventory.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { examplePet } from "./contract/examples.ts";
import { int64, petStatus, reference, responseObject, type Schema } from "./contract/schema.ts";
import type { Declaration } from "./operation.ts";
import { petIdMessage, petIdParameter, readPetId } from "./parameters.ts";

export const petSchemas: Readonly<Record<string, Schema>> = {
  Pet: responseObject(
    "A pet in the catalogue.",
    {
      id: int64("The ID of the pet. The inventory calls it `petId`."),
      name: { type: "string", description: "The name of the pet." },
      category: { type: ["string", "null"], description: "The category of the pet, or null." },
      photoUrls: {
        type: "array",
        items: { type: "string" },
        description: "URLs of photos, in display order.",
      },
      tags: {
        type: "array",
        items: { type: "string" },
        description: "Labels that the store uses to group pets.",
      },
      status: petStatus("The status of the pet. Its inventory entry has the same status."),
    },
    examplePet,
  ),
};

const getPet: Declaration = {
  method: "GET",
  path: "/pets/{petId}",
  scope: "pets:read",
  stability: "stable",
  deprecation: { since: petsDeprecatedAt, sunsetAt: "petsSunsetAt" },
  contract: {
    tag: "Pets",
    summary: "Get a pet",
    description: `Returns one pet from the catalogue.

*Deprecated:* do not use this operation in new code. It works unchanged until the date in \`Sunset\`, then returns 410.`,
    parameters: [petIdParameter],
    success: {
      200: {
        description: "The pet.",
        schema: reference("schemas", "Pet"),
        examples: {
          full: { summary: "All fields set", value: examplePet },
          bare: {
            summary: "No category, photos or tags",
            value: { ...examplePet, category: null, photoUrls: [], tags: [] },
          },
        },
      },
    },
    errors: ["invalid_request", "not_found", "gone"],
    messages: { invalid_request: petIdMessage },
  },
  async handle({ store }, call) {
    const pet = await store.catalogue.findPet(readPetId(call.request));
    if (!pet) throw new ServiceError("not_found", petNotFound);
    const { name, category, photoUrls, tags, status } = pet;
    const rest = JSON.stringify({ name, category, photoUrls, tags, status });
    return { status: 200, body: `{"id":${pet.petId},${rest.slice(1)}` };
  },
};

export const petOperations = { getPet };
