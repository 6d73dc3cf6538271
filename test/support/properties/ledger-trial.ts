import { expect } from "bun:test";
import fc from "fast-check";
import { listHistory } from "../../../src/domain/history/history.ts";
import { type PetStatus, petStatuses, type Stock } from "../../../src/domain/ledger/inventory.ts";
import type { InventoryReader } from "../../../src/domain/ledger/store.ts";
import { entriesOf } from "../../../src/domain/snapshots/columns.ts";
import { inventoryAt } from "../../../src/domain/snapshots/snapshots.ts";
import { verify } from "../../../src/domain/verification/verify.ts";
import { issueOperator } from "../admin/operators.ts";
import { type Engine, startTestService, type TestService } from "../service.ts";
import { foldedAt } from "../snapshots.ts";
import { runs } from "./runs.ts";

/** Few pets, so that changes collide: two at the ends of the range, one that no double represents. */
const petIds = [1n, 2n, -(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n];
const petId = fc.constantFrom(...petIds);
const quantity = fc.oneof(fc.nat(3), fc.constantFrom(0, Number.MAX_SAFE_INTEGER));

const updates = fc.record({
  kind: fc.constant("update" as const),
  changes: fc.array(fc.record({ petId, quantity }), { minLength: 1, maxLength: 6 }),
});
const imports = fc.record({
  kind: fc.constant("import" as const),
  rows: fc.uniqueArray(
    fc.record({
      petId,
      name: fc.option(fc.constantFrom("Rex", "Luna"), { nil: undefined }),
      quantity: fc.option(quantity, { nil: undefined }),
      status: fc.option(fc.constantFrom(...petStatuses), { nil: undefined }),
    }),
    { selector: (row) => row.petId, minLength: 1, maxLength: 4 },
  ),
});
const removal = fc.record({ kind: fc.constant("remove" as const), petId });
const creation = fc.record({ kind: fc.constant("create" as const), petId, quantity });
const step = fc.oneof(
  { weight: 4, arbitrary: updates },
  { weight: 3, arbitrary: imports },
  { weight: 2, arbitrary: removal },
  { weight: 2, arbitrary: creation },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("clock" as const),
      ms: fc.integer({ min: -90_000, max: 90_000 }),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The keys of a client and of an operator. */
interface Keys {
  readonly api: string;
  readonly operator: string;
}

/** The expected inventory, kept as simply as possible. */
interface Model {
  readonly stock: Map<bigint, Stock>;
  rows: number;
}

async function apply(service: TestService, keys: Keys, model: Model, one: Step): Promise<void> {
  if (one.kind === "clock") service.clock.advance(one.ms);
  else if (one.kind === "restart") await service.restart();
  else if (one.kind === "import") await importPets(service, model, one.rows);
  else if (one.kind === "update") await updateAll(service, keys.api, model, one.changes);
  else if (one.kind === "remove") await removePet(service, keys.operator, model, one.petId);
  else await createPet(service, keys.operator, model, one);
}

async function removePet(service: TestService, key: string, model: Model, id: bigint) {
  const { status } = await service.call("DELETE", `~/admin/pets/${id}`, { key });
  expect(status).toBe(model.stock.delete(id) ? 204 : 404);
  if (status === 204) model.rows += 1;
}

async function createPet(
  service: TestService,
  key: string,
  model: Model,
  one: Extract<Step, { kind: "create" }>,
) {
  const body = `{"petId":${one.petId},"name":"Rex","quantity":${one.quantity},"status":"sold"}`;
  const { status } = await service.call("POST", "~/admin/pets", { key, body });
  expect(status).toBe(model.stock.has(one.petId) ? 409 : 201);
  if (status === 409) return;
  model.stock.set(one.petId, { quantity: one.quantity, status: "sold" });
  model.rows += 1;
}

type ImportRow = Extract<Step, { kind: "import" }>["rows"][number];

async function importPets(service: TestService, model: Model, rows: readonly ImportRow[]) {
  const isInvalid = rows.some((row) => row.name === undefined && !model.stock.has(row.petId));
  const done = service.addPets(...rows);
  if (isInvalid) return expect(done).rejects.toThrow("name is required for a new pet");
  await done;
  for (const row of rows) {
    const before = model.stock.get(row.petId);
    const after: Stock = {
      quantity: row.quantity ?? before?.quantity ?? 0,
      status: row.status ?? before?.status ?? ("available" as PetStatus),
    };
    if (before?.quantity !== after.quantity || before.status !== after.status) model.rows += 1;
    model.stock.set(row.petId, after);
  }
}

/** Updates sent together, so that they share transactions. The last one to commit wins. */
async function updateAll(
  service: TestService,
  key: string,
  model: Model,
  changes: readonly { petId: bigint; quantity: number }[],
) {
  const start = (await service.store.inventory.readHead()).seq;
  const responses = await Promise.all(
    changes.map((change) => {
      const body = JSON.stringify({ quantity: change.quantity });
      return service.call("PATCH", `/inventory/${change.petId}`, { key, body });
    }),
  );
  const rows = await service.store.inventory.ledgerAfter(start, 100);
  for (const [at, { petId, quantity }] of changes.entries()) {
    const response = responses[at]!;
    const known = model.stock.get(petId);
    expect(response.status).toBe(known ? 200 : 404);
    if (!known) continue;
    expect(response.text).toBe(itemText(petId, { quantity, status: known.status }));
    const own = rows.filter((row) => row.requestId === response.headers.get("X-Request-Id"));
    expect(own.map((row) => [row.petId, row.after?.quantity])).toEqual([[petId, quantity]]);
    model.rows += 1;
  }
  for (const row of rows) model.stock.set(row.petId, row.after!);
}

function itemText(petId: bigint, { quantity, status }: Stock): string {
  return `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`;
}

/** The inventory that results from the ledger alone. */
async function replay(reader: InventoryReader): Promise<Map<bigint, Stock>> {
  const stock = new Map<bigint, Stock>();
  let at = 0;
  for (const [index, row] of (await reader.ledgerAfter(0, 10_000)).entries()) {
    expect(row.seq).toBe(index + 1);
    expect(row.at).toBeGreaterThanOrEqual(at);
    expect(stockOf(row.before)).toEqual(stock.get(row.petId) ?? null);
    at = row.at;
    if (row.after) stock.set(row.petId, stockOf(row.after)!);
    else stock.delete(row.petId);
  }
  return stock;
}

/** The history of every pet has all its rows, and the inventory of any moment is the fold up to it. */
async function expectHistories(service: TestService): Promise<void> {
  const rows = await service.store.inventory.ledgerAfter(0, 10_000);
  for (const id of new Set(rows.map((row) => row.petId))) {
    const { rows: found } = await listHistory(service, id, { limit: 1_000 });
    const own = rows.filter((row) => row.petId === id).map(({ seq }) => seq);
    expect(found.map(({ seq }) => seq)).toEqual(own.reverse());
  }
  const { epoch } = await service.store.inventory.readHead();
  for (const seq of [Math.floor(rows.length / 2), rows.length]) {
    const slices = await Array.fromAsync(await inventoryAt(service.store, { epoch, seq }));
    expect(slices.flatMap(entriesOf)).toEqual(foldedAt(rows, seq));
  }
}

function stockOf(stock: Stock | null): Stock | null {
  return stock && { quantity: stock.quantity, status: stock.status };
}

/** After any sequence of operations the replayed ledger must be the inventory. */
export async function replaySequences(engine: Engine, count: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
      const service = await startTestService(engine);
      try {
        const { text: key } = await service.issueKey();
        const keys = { api: key, operator: (await issueOperator(service)).text };
        await service.addPets({ petId: 1n, name: "Rex" });
        const first: Stock = { quantity: 0, status: "available" };
        const model: Model = { stock: new Map([[1n, first]]), rows: 1 };
        for (const one of steps) {
          await apply(service, keys, model, one);
          const ids = [...model.stock.keys()].sort((a, b) => (a < b ? -1 : 1));
          const items = ids.map((id) => itemText(id, model.stock.get(id)!));
          const list = await service.call("GET", "/inventory", { key });
          expect(list.text).toBe(`[${items.join()}]`);
        }
        const replayed = await service.store.transfer.snapshot(replay);
        expect(replayed).toEqual(new Map([...model.stock].map(([id, s]) => [id, stockOf(s)!])));
        await expectHistories(service);
        const found = await service.store.transfer.snapshot(verify);
        const [entries, pets] = [model.stock.size, model.stock.size];
        const { seq, hash } = await service.store.history.readTip();
        const counts = { rows: model.rows, entries, pets, seq, hash };
        expect(found).toEqual({ ...counts, faults: [], faultCount: 0 });
      } finally {
        await service.stop();
      }
    }),
    runs(count),
  );
}
