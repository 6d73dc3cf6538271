/**
 * Keeps a copy of the inventory in step with the service, through the feed of changes. The copy is
 * exact: it starts with the stock after a certain change, and every later change is applied to it.
 *
 * The copy is in `MIRROR_FILE`, together with the cursor of its last change. Both are replaced at once,
 * so a program that crashes continues where its file ends, and applies every later change again. A
 * program with a database stores the cursor in the transaction of the change.
 *
 * With a number as argument, it compares the copy with GET /inventory every so many seconds, at the
 * same version, and prints the result. It ends with exit code 1 if they differ.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
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
const file = process.env.MIRROR_FILE ?? "mirror.json";
const copy = new Map<bigint, Stock>();
/** The last change in the copy. Undefined while there is no copy, or it is loaded. */
let copySeq: number | undefined;
/** Where the feed continues after that change. */
let cursor: string | undefined;
let isStored = true;
/** An inventory that waits until the copy has the same changes. */
let expected: { readonly seq: number; readonly items: readonly InventoryItem[] } | undefined;

/** Reads the copy of an earlier run, if there is one. */
function restore(): void {
  if (!existsSync(file)) return;
  const stored = JSON.parse(readFileSync(file, "utf8"));
  for (const [petId, stock] of stored.pets) copy.set(BigInt(petId), stock);
  copySeq = stored.seq;
  cursor = stored.cursor;
  console.log(`continuing with ${copy.size} pets as of change ${copySeq}`);
}

/** Replaces the file. A crash leaves the old one or the new one, each with its own cursor. */
function store(): void {
  if (isStored || copySeq === undefined) return;
  // As texts, because a 64-bit id can be too large for a number.
  const pets = [...copy].map(([petId, stock]) => [String(petId), stock]);
  writeFileSync(`${file}.new`, JSON.stringify({ cursor, seq: copySeq, pets }), { flush: true });
  renameSync(`${file}.new`, file);
  isStored = true;
  console.log(`stored ${copy.size} pets as of change ${copySeq}`);
}

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

restore();
// Not after every change: the whole file is written.
setInterval(store, 1_000);

for await (const event of client.watch(cursor === undefined ? {} : { after: cursor })) {
  if (event.type === "change") apply(event.change);
  // The watch starts without a copy, or continues in another history. The file stays until it is loaded.
  else if (event.type === "reset" || event.seq !== copySeq) await load(event.seq);
  cursor = event.cursor;
  isStored = false;
  compare();
}
