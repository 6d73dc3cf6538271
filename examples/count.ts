/**
 * A stock count. Shows the stock of each given pet, reads the counted number from standard input and
 * records it. If the entry changed in the meantime, the count may be wrong: nothing is recorded, and
 * the program asks for a new count.
 */
import { createInterface } from "node:readline";
import { isConflictError, PetstoreClient } from "petstore-inventory-client";

const client = new PetstoreClient({
  baseUrl: process.env.BASE_URL ?? "http://127.0.0.1:8080/v1",
  apiKey: process.env.API_KEY ?? "",
});
const input = createInterface({ input: process.stdin });
const lines = input[Symbol.asyncIterator]();

async function readCount(): Promise<number> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error("The input ended before all pets were counted");
    if (/^\d+$/.test(value)) return Number(value);
    console.log("Please enter a whole number.");
  }
}

for (const petId of process.argv.slice(2).map(BigInt)) {
  let entry = await client.getInventory(petId);
  for (let isRecorded = false; !isRecorded; ) {
    console.log(`pet ${petId}: ${entry.quantity} on record. How many are there?`);
    const quantity = await readCount();
    try {
      const options = { ifMatch: entry.etag, reason: "stock count" };
      await client.updateInventory(petId, { quantity }, options);
      console.log(`pet ${petId}: ${quantity} recorded`);
      isRecorded = true;
    } catch (error) {
      if (!isConflictError(error)) throw error;
      console.log(`pet ${petId}: the stock changed while you counted. Please count again.`);
      entry = error.current ?? (await client.getInventory(petId));
    }
  }
}
input.close();
