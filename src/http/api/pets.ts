import { Refusal } from "../../domain/errors.ts";
import { petNotFound } from "../../domain/pets.ts";
import type { Answer, Call, Context } from "../call.ts";
import { readPetId } from "./inventory.ts";

export async function getPet(shop: Context, call: Call): Promise<Answer> {
  if (shop.clock.now() >= shop.petsSunsetAt) {
    throw new Refusal("gone", "This operation was retired on its sunset date.");
  }
  const pet = await shop.store.catalogue.findPet(readPetId(call));
  if (!pet) throw new Refusal("not_found", petNotFound);
  const { name, category, photoUrls, tags, status } = pet;
  const rest = JSON.stringify({ name, category, photoUrls, tags, status });
  return { status: 200, body: `{"id":${pet.petId},${rest.slice(1)}` };
}
