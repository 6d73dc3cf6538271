/**
 * Keeps a copy of the inventory in an SQLite file. Each change is stored in one transaction with the
 * cursor after it, so this program and the service can be killed at any time: the next run continues
 * where the file ends, misses no change and applies none twice. Even a power loss that takes the last
 * transactions takes their cursors too.
 *
 * With the argument `check`, it compares the copy with the service at the same change, and ends with
 * exit code 1 if they differ. This also works while another process keeps the copy.
 *
 * Needs Bun, or Node 22.13 or later for `node:sqlite`.
 */
import { DatabaseSync } from "node:sqlite";
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
const database = new DatabaseSync(process.env.MIRROR_FILE ?? "mirror.db");
database.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS stock (petId INTEGER PRIMARY KEY, quantity INTEGER, status TEXT);
  CREATE TABLE IF NOT EXISTS position (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER, cursor TEXT);
`);
const put = database.prepare("INSERT OR REPLACE INTO stock VALUES (?, ?, ?)");
const remove = database.prepare("DELETE FROM stock WHERE petId = ?");
const find = database.prepare("SELECT quantity, status FROM stock WHERE petId = ?");
const move = database.prepare("INSERT OR REPLACE INTO position VALUES (1, ?, ?)");
const position = database.prepare("SELECT seq, cursor FROM position");
const list = database.prepare("SELECT petId, quantity, status FROM stock ORDER BY petId");
// An id has 64 bits, more than a number holds.
list.setReadBigInts(true);

/** The last change in the copy, and where the feed continues. Undefined while there is no copy. */
function readPosition() {
  return position.get() as { seq: number; cursor: string } | undefined;
}

function transaction<T>(work: () => T): T {
  database.exec("BEGIN");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

function load(items: readonly InventoryItem[], seq: number, cursor: string): void {
  transaction(() => {
    database.exec("DELETE FROM stock");
    for (const { petId, quantity, status } of items) put.run(petId, quantity, status);
    move.run(seq, cursor);
  });
  console.log(`loaded ${items.length} pets as of change ${seq}`);
}

function apply({ seq, petId, before, after }: LedgerRow, cursor: string): void {
  transaction(() => {
    const stored = find.get(petId) as Stock | undefined;
    if (!isEqual(stored, before)) throw new Error(`change ${seq} does not fit the copy`);
    if (after === null) remove.run(petId);
    else put.run(petId, after.quantity, after.status);
    move.run(seq, cursor);
  });
  console.log(`change ${seq}: pet ${petId}, ${after === null ? "removed" : after.quantity}`);
}

function isEqual(one: Stock | null | undefined, other: Stock | null | undefined): boolean {
  return one?.quantity === other?.quantity && one?.status === other?.status;
}

async function follow(): Promise<never> {
  const stored = readPosition();
  if (stored) console.log(`continuing after change ${stored.seq}`);
  for await (const event of client.watch(stored ? { after: stored.cursor } : {})) {
    if (event.type === "change") apply(event.change, event.cursor);
    // There is no copy yet, or the service has another history, as after a restore from a backup.
    else if (event.type === "reset" || event.seq !== stored?.seq) {
      load(await client.snapshot(event.seq), event.seq, event.cursor);
    }
  }
  throw new Error("unreachable: a watch has no end");
}

async function check(): Promise<boolean> {
  // One transaction, so that the rows belong to the position while another process writes.
  const [seq, rows] = transaction(() => [readPosition()?.seq, list.all()] as const);
  if (seq === undefined) throw new Error("There is no copy yet");
  const copy = rows.map((row) => `${row.petId} ${row.quantity} ${row.status}`);
  const items = await client.snapshot(seq);
  const expected = items.map((item) => `${item.petId} ${item.quantity} ${item.status}`);
  const isSame = copy.join() === expected.join();
  console.log(`${isSame ? "equal to" : "differs from"} the service at change ${seq}`);
  return isSame;
}

if (process.argv[2] === "check") process.exit((await check()) ? 0 : 1);
await follow();
