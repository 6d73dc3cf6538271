/**
 * Fills up every pet of which fewer are left than the number given. The client keeps within the
 * key's limit by itself, so all updates may start at once.
 */
import { isApiError, PetstoreClient } from "petstore-inventory-client";

const wanted = Number(process.argv[2] ?? 5);
const client = new PetstoreClient({
  baseUrl: process.env.BASE_URL ?? "http://127.0.0.1:8080/v1",
  apiKey: process.env.API_KEY ?? "",
});

const low = (await client.listInventory()).filter(
  (item) => item.status === "available" && item.quantity < wanted,
);
await Promise.all(
  low.map(async ({ petId, quantity }) => {
    try {
      await client.updateInventory(petId, { quantity: wanted });
      console.log(`pet ${petId}: ${quantity} before, ${wanted} now`);
    } catch (error) {
      // Somebody may have taken the pet out of the catalogue in the meantime.
      if (!isApiError(error) || error.code !== "not_found") throw error;
      console.log(`pet ${petId}: no longer in the store`);
    }
  }),
);
console.log(`${client.limits?.remaining} requests are left in this window`);
