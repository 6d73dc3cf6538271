/**
 * A till that also sells without a connection. It stores each sale with an idempotency key, then sends
 * all sales that wait, the oldest first. A sale without a response stays stored, and the next run sends
 * it again with the same key: the service applies it once, whatever was killed meanwhile.
 *
 * Arguments: petId and quantity of a sale. Without arguments it only sends what waits; run it so every
 * minute. Needs Bun, or Node 22.13 or later for `node:sqlite`.
 */
import { DatabaseSync } from "node:sqlite";
import {
  isApiError,
  isNetworkError,
  isTimeoutError,
  PetstoreClient,
} from "petstore-inventory-client";

interface Sale {
  readonly id: string;
  readonly petId: bigint;
  readonly quantity: bigint;
  /** In milliseconds since 1970. Null if the sale was never sent. */
  readonly firstSentAt: bigint | null;
}

// A customer waits: the till keeps the sale and tries again later.
const client = new PetstoreClient({
  baseUrl: process.env.BASE_URL ?? "http://127.0.0.1:8080/v1",
  apiKey: process.env.API_KEY ?? "",
  attemptsMax: 2,
  timeoutMs: 5_000,
});
const database = new DatabaseSync(process.env.TILL_FILE ?? "till.db");
database.exec(`CREATE TABLE IF NOT EXISTS sales (
  id TEXT PRIMARY KEY, petId INTEGER, quantity INTEGER, firstSentAt INTEGER, result TEXT)`);
const add = database.prepare("INSERT INTO sales (id, petId, quantity) VALUES (?, ?, ?)");
const listWaiting = database.prepare("SELECT * FROM sales WHERE result IS NULL ORDER BY rowid");
listWaiting.setReadBigInts(true);
const markSent = database.prepare(
  "UPDATE sales SET firstSentAt = coalesce(firstSentAt, ?) WHERE id = ?",
);
const finish = database.prepare("UPDATE sales SET result = ? WHERE id = ?");

/** The service remembers a key for 7 days. Sent again after that, the sale could be applied twice. */
const keyIsSafeMs = 6 * 24 * 60 * 60 * 1000;

/** Sends a sale; returns what became of it, to be stored. */
async function send({ id, petId, quantity, firstSentAt }: Sale): Promise<string> {
  const reason = `sale ${id}`;
  if (firstSentAt !== null && Date.now() - Number(firstSentAt) > keyIsSafeMs) {
    for await (const row of client.history(petId)) if (row.reason === reason) return "sold";
    return "not sent in time: count this pet";
  }
  markSent.run(Date.now(), id);
  try {
    const change = { petId, delta: -Number(quantity), reason };
    const [entry] = await client.applyChanges([change], { idempotencyKey: id });
    return `sold, ${entry?.quantity} left`;
  } catch (error) {
    // The pet has left the shop all the same. Other errors, such as a wrong key, are not about this sale.
    const isRefused = isApiError(error) && /^(insufficient_stock|not_found)$/.test(error.code);
    if (isRefused) return `refused (${error.code}): count this pet`;
    throw error;
  }
}

async function sendAll(): Promise<void> {
  const waiting = listWaiting.all() as unknown as Sale[];
  for (const [at, sale] of waiting.entries()) {
    try {
      const result = await send(sale);
      finish.run(result, sale.id);
      console.log(`${sale.quantity} of pet ${sale.petId}: ${result}`);
    } catch (error) {
      console.log(`sales that wait: ${waiting.length - at}`);
      if (isNetworkError(error) || isTimeoutError(error)) return;
      throw error;
    }
  }
}

const [petId, count = "1"] = process.argv.slice(2);
if (petId !== undefined) {
  const quantity = Number(count);
  const isPetId = /^-?\d+$/.test(petId) && BigInt.asIntN(64, BigInt(petId)) === BigInt(petId);
  if (!isPetId || !Number.isSafeInteger(quantity) || quantity < 1) {
    console.error("Pass a petId and a quantity, such as: 7 2");
    process.exit(2);
  }
  add.run(crypto.randomUUID(), BigInt(petId), quantity);
}
await sendAll();
