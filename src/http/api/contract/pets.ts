import { petIdParameter, petIdRule } from "./inventory.ts";
import type { Contract } from "./operation.ts";
import { examplePet, reference } from "./schemas.ts";

export const getPet: Contract = {
  tag: "Pets",
  summary: "Read one pet",
  description: `Gives what the catalogue says about one pet.

*Deprecated:* build nothing new on it. Until the date in \`Sunset\` it works as it always did; from then on it answers 410.`,
  parameters: [petIdParameter],
  success: {
    200: {
      description: "The pet.",
      headers: ["CacheCurrent"],
      schema: reference("schemas", "Pet"),
      examples: {
        full: { summary: "A pet with everything", value: examplePet },
        bare: {
          summary: "A pet with only a name",
          value: { ...examplePet, category: null, photoUrls: [], tags: [] },
        },
      },
    },
  },
  errors: ["invalid_request", "not_found", "gone"],
  invalid: petIdRule,
  headers: ["Deprecation", "Sunset", "Link"],
};
