import { expect } from "bun:test";
import fc from "fast-check";
import { type PetStatus, petStatuses, type Stock } from "../../../src/domain/inventory.ts";
import type { InventoryReader } from "../../../src/domain/ports.ts";
import { verify } from "../../../src/domain/verify.ts";
import { type Engine, startTestService, type TestService } from "../service.ts";
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
const step = fc.oneof(
  { weight: 4, arbitrary: updates },
  { weight: 3, arbitrary: imports },
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

/** The expected inventory, kept as simply as possible. */
interface Model {
  readonly stock: Map<bigint, Stock>;
  rows: number;
}

async function apply(service: TestService, key: string, model: Model, one: Step): Promise<void> {
  if (one.kind === "clock") service.clock.advance(one.ms);
  else if (one.kind === "restart") await service.restart();
  else if (one.kind === "import") await importPets(service, model, one.rows);
  else await updateAll(service, key, model, one.changes);
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
    stock.set(row.petId, stockOf(row.after)!);
  }
  return stock;
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
        await service.addPets({ petId: 1n, name: "Rex" });
        const first: Stock = { quantity: 0, status: "available" };
        const model: Model = { stock: new Map([[1n, first]]), rows: 1 };
        for (const one of steps) {
          await apply(service, key, model, one);
          const ids = [...model.stock.keys()].sort((a, b) => (a < b ? -1 : 1));
          const items = ids.map((id) => itemText(id, model.stock.get(id)!));
          const list = await service.call("GET", "/inventory", { key });
          expect(list.text).toBe(`[${items.join()}]`);
        }
        const replayed = await service.store.transfer.snapshot(replay);
        expect(replayed).toEqual(new Map([...model.stock].map(([id, s]) => [id, stockOf(s)!])));
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
