import type { PetName } from "../../domain/catalogue/pets.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { int64Pattern, parseInt64 } from "../../domain/values/int64.ts";
import { queryOf, singleValue } from "../api/parameters.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";

export const namedPetsMax = 200;
export const petIdsPattern = `^${int64Pattern}(,${int64Pattern}){0,${namedPetsMax - 1}}$`;
export const petIdsRule = `Query parameter 'ids' is required and must be 1 to ${namedPetsMax} ids of pets, separated by commas.`;

/** Returns the names of the pets with these ids. Those that do not exist are left out. */
export async function listPetNames({ store }: Context, { request }: Call): Promise<Reply> {
  const petIds = readPetIds(queryOf(request));
  const found = await store.catalogue.namesOf(petIds);
  return { status: 200, body: `[${found.map(petNameJson).join()}]` };
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
