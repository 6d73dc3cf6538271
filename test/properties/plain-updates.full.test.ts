import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import fc from "fast-check";
import { commandImport } from "../../src/domain/catalogue/import-preview.ts";
import { digestOf } from "../../src/domain/keys/keyring.ts";
import { generateKeyId, scopes } from "../../src/domain/keys/keys.ts";
import { append, type Remembered } from "../../src/domain/ledger/append.ts";
import { genesisHash, hashRow } from "../../src/domain/ledger/chain.ts";
import { digestOfTexts, unpackKeys } from "../../src/domain/ledger/idempotency.ts";
import type { Entry } from "../../src/domain/ledger/inventory.ts";
import type { LedgerRow, Tip, Unit } from "../../src/domain/ledger/ledger.ts";
import type { Store } from "../../src/domain/store.ts";
import { verify } from "../../src/domain/verification/verify.ts";
import { createDatabase, type Database } from "../../src/store/postgres/engine/database.ts";
import { anEntry } from "../support/audit.ts";
import { createTestClock } from "../support/clock.ts";
import { petRow } from "../support/pets.ts";
import { openConnected } from "../support/postgres-store.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { runs } from "../support/properties/runs.ts";
import { setUnit } from "../support/units.ts";

/**
 * PostgreSQL applies groups of plain updates in a procedure, which must do what `append` does. Here
 * `append` alone is applied to the same groups, and everything that is stored must be equal.
 */

const keptMs = 1_000;

const keyIds = [generateKeyId(), generateKeyId()];
/** Few pets, so that a group often names one twice. The last one is unknown. */
const petIds = [1n, 2n, 3n, -(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n, 7n];
const quantities = [0, 1, 2, 3, Number.MAX_SAFE_INTEGER];
const reasons = [
  ...[`it's "quoted"`, "back\\slash \\n \\", "{NULL}", "NULL", "null", "\\N", "$1", " ", ","],
  ...[
    "Größe 日本 🐈 e\u0301",
    "\u2028\u2029\u0085\ufeff",
    "\t\r\u0001\u001f\u007f",
    "a".repeat(200),
  ],
];
const lineBreaks = ["\n", "line\nbreak", "\n\n", "at the end\n"];

const reason = fc.oneof(
  { weight: 6, arbitrary: fc.constant(null) },
  { weight: 4, arbitrary: fc.constantFrom(...reasons) },
  {
    weight: 3,
    arbitrary: fc
      .string({ unit: "binary", maxLength: 20 })
      // PostgreSQL does not store this character.
      .map((text) => text.replaceAll("\0", "0")),
  },
  { weight: 1, arbitrary: fc.constantFrom("", ...lineBreaks) },
);
const cause = fc.constantFrom("api" as const, "api" as const, "console" as const, "undo" as const);
const keyText = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.uuid() },
);
const unit = fc.record({
  petId: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...petIds.slice(0, -1)) },
    { weight: 1, arbitrary: fc.constant(petIds.at(-1)!) },
  ),
  amount: fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(...quantities) },
    { weight: 1, arbitrary: fc.constantFrom(-1, Number.MIN_SAFE_INTEGER) },
  ),
  reason,
  keyId: fc.constantFrom(null, ...keyIds),
  requestId: fc.constantFrom(null, "req_1", "req_2"),
  key: keyText,
  request: fc.constantFrom("x", "x", "y"),
});
const seldom = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
const group = fc.record({
  // The clock may go back, and sometimes more time passes than a key is kept.
  afterMs: fc.integer({ min: -100, max: 300 }),
  /** The instance that commits the group, if there are two. */
  by: fc.nat(1),
  cause,
  // Sometimes one unit has another cause.
  otherCause: seldom(cause),
  // Sometimes keys that were used before are used again.
  oldKeys: seldom(fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 })),
  isWithoutKeys: fc.boolean(),
  hasReasons: fc.boolean(),
  units: fc.array(unit, { minLength: 1, maxLength: 8 }),
});
type Group = typeof group extends fc.Arbitrary<infer T> ? T : never;

function unitsOf({ units, oldKeys, isWithoutKeys, hasReasons, ...causes }: Group) {
  return units.map((one, at): Unit => {
    const key = oldKeys?.[at] ?? (isWithoutKeys ? undefined : one.key);
    const { petId, amount } = one;
    const reason = hasReasons ? one.reason : null;
    const cause = (at === 0 && causes.otherCause) || causes.cause;
    // Every request to the API has both.
    const [keyId, requestId] =
      cause === "api"
        ? [one.keyId ?? keyIds[0]!, one.requestId ?? "req_0"]
        : [one.keyId, one.requestId];
    return {
      changes: [{ petId, kind: "set", amount, reason }],
      cause,
      keyId,
      requestId,
      ...(key && {
        idempotency: { key: digestOfTexts(key), request: digestOfTexts(one.request), keptMs },
      }),
    };
  });
}

/** What a store keeps, and nothing but `append` to change it. */
interface Model {
  epoch: string;
  tip: Tip;
  readonly entries: Map<bigint, Entry>;
  readonly remembered: Map<string, Remembered>;
  /** All that was added. */
  readonly rows: LedgerRow[];
  readonly hashes: string[];
  readonly usedKeys: unknown[];
}

function apply(model: Model, units: readonly Unit[], now: number) {
  const appended = append({ ...model, epochOf: () => model.epoch }, units, now);
  model.tip = appended.tip;
  model.rows.push(...appended.rows);
  model.hashes.push(...appended.hashes);
  model.usedKeys.push(...appended.usedKeys.map((used) => ({ ...used, at: appended.at })));
  const { epoch, rows, outcomes } = appended;
  return { epoch, rows, outcomes };
}

const clock = createTestClock();
let url: string;
let sql: SQL;
const databases: Database[] = [];
const stores: Store[] = [];
let model: Model;

beforeAll(async () => {
  url = await createdDatabase();
  sql = new SQL(url, { max: 1, bigint: true });
  for (let instance = 0; instance < 2; instance++) {
    const database = createDatabase(url);
    databases.push(database);
    const environment = "production";
    stores.push(await openConnected({ database, environment, clock }));
  }
  const { catalogue, inventory, keys } = stores[0]!;
  await catalogue.importPets(
    (async function* () {
      yield petIds
        .slice(0, -1)
        .map((petId, at) => petRow({ petId, quantity: at, status: at % 2 ? "sold" : "available" }));
    })(),
    commandImport("test"),
  );
  for (const store of stores) await store.idempotency.prepare();
  for (const id of keyIds) {
    const times = { createdAt: 0, expiresAt: null, revokedAt: null };
    const plan = { plan: "free" as const, limits: { perMinute: 1, perDay: 1 } };
    await keys.addKey({ id, name: "test", ...plan, scopes, ...times }, digestOf(id), anEntry);
  }
  const rows = [...(await inventory.ledgerAfter(0, 100))];
  const hashes: string[] = [];
  for (const row of rows) hashes.push(hashRow(hashes.at(-1) ?? genesisHash, row));
  const { seq, at } = rows.at(-1)!;
  const found = await inventory.entriesAfter(null, 100);
  model = {
    epoch: (await inventory.readHead()).epoch,
    tip: { seq, at, hash: hashes.at(-1)! },
    entries: new Map(found.map((entry) => [entry.petId, entry])),
    ...{ remembered: new Map(), rows, hashes, usedKeys: [] },
  };
});
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await sql.close();
});

const stockOf = (stock: LedgerRow["before"]) =>
  stock && { quantity: stock.quantity, status: stock.status };

/** Compares what is stored after the row `seq` with the model. */
async function expectStored(seq: number): Promise<void> {
  const { inventory } = stores[0]!;
  const added = model.rows.filter((row) => row.seq > seq);
  const expected = added.map((row) => ({
    ...row,
    before: stockOf(row.before),
    after: stockOf(row.after),
  }));
  expect(await inventory.ledgerAfter(seq, added.length + 1)).toEqual(expected);
  const byPet = (one: Entry, other: Entry) => (one.petId < other.petId ? -1 : 1);
  expect(await inventory.entriesAfter(null, 100)).toEqual(
    [...model.entries.values()].toSorted(byPet),
  );
  const [[tip], hashes, stored] = await Promise.all([
    sql`SELECT seq::text, at::text, hash FROM ledger_end ORDER BY seq DESC LIMIT 1`.values(),
    sql`SELECT encode(hash, 'hex') FROM ledger WHERE seq > ${seq} ORDER BY seq`.values(),
    sql`SELECT seq, at, records FROM remembered_keys ORDER BY seq`.values(),
  ]);
  expect(tip).toEqual([`${model.tip.seq}`, `${model.tip.at}`, model.tip.hash]);
  expect(hashes.flat()).toEqual(added.map((row) => model.hashes[row.seq - 1]!));
  const usedKeys = stored.flatMap(([first, at, records]: [bigint, bigint, Uint8Array]) =>
    unpackKeys({ seq: Number(first), at: Number(at), records }).map((used) => ({
      ...used,
      at: Number(at),
    })),
  );
  expect(usedKeys).toEqual(model.usedKeys);
}

/** How often each kind of group or outcome came about. */
const seen = new Map<string, number>();
const see = (kind: string) => seen.set(kind, (seen.get(kind) ?? 0) + 1);

async function commitAndCompare(units: readonly Unit[], by: number): Promise<void> {
  const { traffic } = databases[by]!;
  const before = traffic.statements;
  const committed = await stores[by]!.inventory.commit(units);
  const { rows, outcomes, epoch } = apply(model, units, clock.now());
  expect(committed.outcomes).toEqual(outcomes);
  expect(committed.rows).toEqual(rows);
  if (rows.length > 0) expect(committed.epoch).toBe(epoch);
  for (const one of outcomes) {
    if (one.kind === "rejected") see(one.reason);
    else see(one.isReplayed ? "replayed" : "stored");
  }
  if (traffic.statements - before > 1) return;
  see("in one statement");
  if (units.some(({ idempotency }) => idempotency)) see("with keys");
  if (units.some(({ changes }) => changes[0]!.reason !== null)) see("with reasons");
  if (new Set(rows.map(({ petId }) => petId)).size < rows.length) see("one pet twice");
}

async function compare(groupsCount: number, instances: number): Promise<void> {
  seen.clear();
  const property = fc.asyncProperty(
    fc.array(group, { minLength: 5, maxLength: 10 }),
    async (groups) => {
      const { seq } = model.tip;
      for (const one of groups) {
        clock.advance(one.afterMs);
        await commitAndCompare(unitsOf(one), one.by % instances);
      }
      await expectStored(seq);
    },
  );
  // The store goes on after a failure, so a smaller example cannot be looked for.
  const { seed, numRuns } = runs(groupsCount / 5);
  await fc.assert(property, { seed: seed! + instances, numRuns: numRuns!, endOnFailure: true });
  const found = await stores[0]!.transfer.snapshot((snapshot) => verify(snapshot));
  expect(found.hash).toBe(model.tip.hash);
  expect(found.faults).toEqual([]);
  expect(found.faults.filter((line) => !line.includes('reason is ""'))).toEqual([]);
}

test("a key that another instance has just used is not applied again", async () => {
  const { seq } = model.tip;
  const keyed = (key: string, request: string): Unit => ({
    ...setUnit(1n, 5, { keyId: keyIds[0]!, requestId: "req_1" }),
    idempotency: { key: digestOfTexts(key), request: digestOfTexts(request), keptMs },
  });
  // From here on, both know that their epoch is recorded.
  for (const by of [0, 1]) await commitAndCompare([setUnit(1n, 4, { cause: "undo" })], by);
  seen.clear();
  await commitAndCompare([keyed("used", "x")], 0);
  expect([...seen.keys()]).toEqual(["stored", "in one statement", "with keys"]);
  await commitAndCompare([keyed("used", "x")], 1);
  await commitAndCompare([keyed("used", "y")], 1);
  expect([...seen.keys()].slice(3)).toEqual(["replayed", "key_reused"]);
  await expectStored(seq);
});

test("the database applies plain updates as the domain does, many of them in one statement", async () => {
  await compare(200, 1);
  const kinds = ["in one statement", "with keys", "with reasons", "one pet twice"];
  for (const kind of kinds) expect([kind, seen.get(kind)! > 20]).toEqual([kind, true]);
  const outcomes = ["stored", "replayed", "not_found", "key_reused", "out_of_range"];
  for (const kind of outcomes) expect([kind, seen.get(kind)! > 3]).toEqual([kind, true]);
});

test("the database applies plain updates of two instances as the domain does", async () => {
  await compare(50, 2);
  expect(seen.get("in one statement")).toBeGreaterThan(5);
});
