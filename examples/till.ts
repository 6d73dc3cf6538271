/**
 * A till that sells pets and never sells one twice. It stores each sale with an idempotency key before
 * it sends it. If the program is killed or gets no response, the next run sends the stored sale again
 * with the same key, and the service applies it only once. The service remembers a key for 7 days.
 *
 * Arguments: petId and quantity of the sale. Without arguments it only completes a stored sale.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import {
  isApiError,
  isNetworkError,
  isTimeoutError,
  PetstoreClient,
} from "petstore-inventory-client";

interface Sale {
  readonly idempotencyKey: string;
  /** Text, because JSON.parse rounds ids above 2^53. */
  readonly petId: string;
  readonly quantity: number;
}

const file = process.env.TILL_FILE ?? "till-sale.json";
const client = new PetstoreClient({
  baseUrl: process.env.BASE_URL ?? "http://127.0.0.1:8080/v1",
  apiKey: process.env.API_KEY ?? "",
});

/** Renaming is atomic, so a crash leaves either the whole sale or none. */
function store(sale: Sale): void {
  writeFileSync(`${file}.new`, JSON.stringify(sale), { flush: true });
  renameSync(`${file}.new`, file);
}

/** Sends a stored sale and forgets it as soon as the service has accepted or rejected it. */
async function complete({ idempotencyKey, petId, quantity }: Sale): Promise<void> {
  const change = { petId: BigInt(petId), delta: -quantity, reason: "sale" };
  try {
    const [entry] = await client.applyChanges([change], { idempotencyKey });
    console.log(`sold ${quantity} of pet ${petId}, ${entry?.quantity} left`);
  } catch (error) {
    if (isNetworkError(error) || isTimeoutError(error)) {
      console.error("No response. Run the till again to complete the sale.");
      process.exit(1);
    }
    if (!isApiError(error)) throw error;
    if (error.code === "insufficient_stock") console.log(`not enough of pet ${petId} in stock`);
    else if (error.code === "not_found") console.log(`there is no pet ${petId}`);
    // The sale stays stored: for example, the key may be wrong, or the limit may be exhausted.
    else throw error;
  }
  rmSync(file);
}

if (existsSync(file)) await complete(JSON.parse(readFileSync(file, "utf8")));

const [petId, count = "1"] = process.argv.slice(2);
if (petId !== undefined) {
  const quantity = Number(count);
  const isPetId = /^-?\d+$/.test(petId) && BigInt.asIntN(64, BigInt(petId)) === BigInt(petId);
  if (!isPetId || !Number.isSafeInteger(quantity) || quantity < 1) {
    console.error("Pass a petId and a quantity, such as: 7 2");
    process.exit(2);
  }
  const sale = { idempotencyKey: crypto.randomUUID(), petId, quantity };
  store(sale);
  await complete(sale);
}
