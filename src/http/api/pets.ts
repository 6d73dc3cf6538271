import { petNotFound } from "../../domain/ledger/inventory.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { Reply } from "../messages/reply.ts";
import type { Context } from "../pipeline/context.ts";
import type { Call } from "../pipeline/operation.ts";
import { readPetId } from "./parameters.ts";

export async function getPet({ store }: Context, call: Call): Promise<Reply> {
  const pet = await store.catalogue.findPet(readPetId(call.request));
  if (!pet) throw new ServiceError("not_found", petNotFound);
  const { name, category, photoUrls, tags, status } = pet;
  const rest = JSON.stringify({ name, category, photoUrls, tags, status });
  return { status: 200, body: `{"id":${pet.petId},${rest.slice(1)}` };
}
