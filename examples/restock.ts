/**
 * Restocks every available pet whose count is below the given number. The client keeps to the rate
 * limit, so the program can start all updates at once.
 */
import { isApiError, PetstoreClient } from "petstore-inventory-client";

const target = Number(process.argv[2] ?? 5);
const client = new PetstoreClient({
  baseUrl: process.env.BASE_URL ?? "http://127.0.0.1:8080/v1",
  apiKey: process.env.API_KEY ?? "",
});

const low = (await client.listInventory()).filter(
  (item) => item.status === "available" && item.quantity < target,
);
await Promise.all(
  low.map(async ({ petId, quantity }) => {
    try {
      await client.updateInventory(petId, { quantity: target });
      console.log(`pet ${petId}: ${quantity} before, ${target} now`);
    } catch (error) {
      // The pet may have been removed from the catalogue after the list was read.
      if (!isApiError(error) || error.code !== "not_found") throw error;
      console.log(`pet ${petId}: no longer in the store`);
    }
  }),
);
console.log(`${client.limits?.remaining} requests left in this window`);
