import { Refusal } from "../domain/errors.ts";
import { parseInt64 } from "../domain/integers.ts";
import { parseInventoryUpdate, setQuantity } from "../domain/inventory.ts";
import { readJsonText } from "./body.ts";
import type { Answer, Call, Shop } from "./call.ts";
import { itemJson } from "./listing.ts";

export async function listInventory(shop: Shop, call: Call): Promise<Answer> {
  await shop.follower.catchUp(call.head);
  return { status: 200, body: shop.listing.body() };
}

export async function updateInventory(shop: Shop, call: Call): Promise<Answer> {
  const petId = readPetId(call);
  const quantity = parseInventoryUpdate(await readJsonText(call.request, shop.bodyBytesMax));
  const { requestId } = call;
  const entry = await setQuantity(shop.committer, call.caller, { petId, quantity, requestId });
  return { status: 200, body: itemJson(entry.petId, entry) };
}

export function readPetId(call: Call): bigint {
  const petId = parseInt64(call.params.petId ?? "");
  if (petId === undefined) {
    throw new Refusal(
      "invalid_request",
      "Path parameter 'petId' must be a 64-bit integer in plain decimal digits.",
    );
  }
  return petId;
}
