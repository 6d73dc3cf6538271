/**
 * Keeps a copy of the inventory in step with the service, through the feed of changes. The copy is
 * exact: it starts with the stock after a certain change, and every later change is applied to it.
 *
 * With a number as argument, it compares the copy with GET /inventory every so many seconds, at the
 * same version, and prints the result. It ends with exit code 1 if they differ.
 *
 * The copy is in memory, so a new start loads it again. A program that stores its copy also stores the
 * cursor of the last change with it, and passes that cursor as `after` to continue.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type InventoryItem,
  type LedgerRow,
  PetstoreClient,
  type Stock,
} from "petstore-inventory-client";

const client = new PetstoreClient({
  baseUrl: process.env.BASE_URL ?? "http://127.0.0.1:8080/v1",
  apiKey: process.env.API_KEY ?? "",
});
const copy = new Map<bigint, Stock>();
/** The last change in the copy. Undefined while it is loaded. */
let copySeq: number | undefined;
/** An inventory that waits until the copy has the same changes. */
let expected: { readonly seq: number; readonly items: readonly InventoryItem[] } | undefined;

async function load(seq: number): Promise<void> {
  copySeq = undefined;
  expected = undefined;
  const items = await client.snapshot(seq);
  copy.clear();
  for (const { petId, quantity, status } of items) copy.set(petId, { quantity, status });
  copySeq = seq;
  console.log(`loaded ${copy.size} pets as of change ${seq}`);
}

function apply({ seq, petId, before, after }: LedgerRow): void {
  if (!isEqual(copy.get(petId), before)) throw new Error(`change ${seq} does not fit the copy`);
  if (after === null) copy.delete(petId);
  else copy.set(petId, after);
  copySeq = seq;
  console.log(`change ${seq}: pet ${petId}, ${after === null ? "removed" : after.quantity}`);
}

function isEqual(one: Stock | null | undefined, other: Stock | null | undefined): boolean {
  return one?.quantity === other?.quantity && one?.status === other?.status;
}

/** Reads the inventory and its last change. Reads again if a change came in between. */
async function readInventory() {
  for (;;) {
    const before = await client.ledgerHead();
    const items = await client.listInventory();
    const { seq, hash } = await client.ledgerHead();
    if (hash === before.hash) return { seq, items };
  }
}

function compare(): void {
  if (expected === undefined || copySeq === undefined || copySeq < expected.seq) return;
  const { seq, items } = expected;
  expected = undefined;
  // The copy is ahead. The next comparison may find it in time.
  if (copySeq > seq) return;
  if (items.length === copy.size && items.every((item) => isEqual(copy.get(item.petId), item))) {
    console.log(`equal to GET /inventory at change ${seq}: ${copy.size} pets`);
  } else {
    console.error(`differs from GET /inventory at change ${seq}`);
    process.exit(1);
  }
}

async function compareEvery(ms: number): Promise<void> {
  for (;;) {
    await sleep(ms);
    expected = await readInventory();
    compare();
  }
}

const seconds = Number(process.argv[2]);
if (seconds > 0) compareEvery(seconds * 1000);

for await (const event of client.watch()) {
  if (event.type === "change") apply(event.change);
  // The watch starts, or continues in another history.
  else await load(event.seq);
  compare();
}
