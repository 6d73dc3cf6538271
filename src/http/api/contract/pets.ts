import { examplePet } from "./examples.ts";
import { petIdMessage, petIdParameter } from "./inventory.ts";
import type { Contract } from "./operation.ts";
import { reference } from "./schema.ts";

export const getPet: Contract = {
  tag: "Pets",
  summary: "Get a pet",
  description: `Returns one pet from the catalogue.

*Deprecated:* do not use this operation in new code. It works unchanged until the date in \`Sunset\`, then returns 410.`,
  parameters: [petIdParameter],
  success: {
    200: {
      description: "The pet.",
      headers: ["CacheCurrent"],
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
  headers: ["Deprecation", "Sunset", "Link"],
};
