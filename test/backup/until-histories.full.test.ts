import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { unpackKeys } from "../../src/domain/ledger/idempotency.ts";
import type { Store } from "../../src/domain/store.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace } from "../support/process.ts";
import { runs } from "../support/properties/runs.ts";
import { engines, startTestService, type TestService } from "../support/service.ts";
import { readInventory } from "../support/snapshots.ts";
import { importPets, verifyStore, withStoreAt } from "../support/stocking.ts";

const place = openWorkspace();
afterAll(() => place.leave());
let made = 0;
const fresh = (ending: string) => place.path(`${++made}.${ending}`);

const petId = fc.constantFrom("1", "2", "9007199254740993", "-9223372036854775808");
const quantity = fc.oneof(fc.nat(99), fc.constant(Number.MAX_SAFE_INTEGER));
const step = fc.oneof(
  { weight: 5, arbitrary: fc.array(quantity, { minLength: 1, maxLength: 3 }) },
  { weight: 2, arbitrary: fc.record({ create: petId }) },
  { weight: 2, arbitrary: fc.record({ remove: petId }) },
  { weight: 2, arbitrary: fc.record({ count: petId, quantity, rowsAgo: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ sell: petId, by: fc.integer({ min: -3, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ status: fc.constantFrom("sold", "pending") }) },
  { weight: 1, arbitrary: fc.record({ imported: petId, quantity }) },
  { weight: 1, arbitrary: fc.record({ rename: petId }) },
  { weight: 2, arbitrary: fc.record({ undo: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.constant("restart" as const) },
  { weight: 1, arbitrary: fc.constant("clock goes back" as const) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Does what clients, operators and commands can do to the ledger. Some of it is refused. */
async function apply(service: TestService, key: string, operator: string, one: Step) {
  service.clock.advance(one === "clock goes back" ? -60_000 : 1_000);
  if (one === "clock goes back") return;
  if (one === "restart") return service.restart();
  const headers = { "Idempotency-Key": `request-${++made}` };
  const change = (...changes: string[]) =>
    service.call("POST", "~/admin/changes", {
      ...{ key: operator, headers, body: `{"changes":[${changes}]}` },
    });
  const { seq } = await service.store.history.readTip();
  if ("undo" in one) {
    const path = `~/admin/changes/${Math.max(1, seq - one.undo)}/undo`;
    return service.call("POST", path, { key: operator, body: "{}" });
  }
  if ("create" in one) {
    const body = `{"petId":${one.create},"name":"Pet ${one.create}","quantity":3,"status":"available"}`;
    return service.call("POST", "~/admin/pets", { key: operator, body });
  }
  if ("remove" in one)
    return service.call("DELETE", `~/admin/pets/${one.remove}`, { key: operator });
  if ("count" in one) {
    const countedAt = Math.max(0, seq - one.rowsAgo);
    return change(
      `{"petId":${one.count},"quantity":${one.quantity},"countedAt":${countedAt},"reason":"shelf"}`,
    );
  }
  if ("status" in one) return change(`{"petId":1,"quantity":4,"status":"${one.status}"}`);
  if ("rename" in one) {
    const body = `{"name":"Pet ${made}"}`;
    return service.call("PATCH", `~/admin/pets/${one.rename}`, { key: operator, body });
  }
  // With the clock of this machine, which is far from that of the service.
  if ("imported" in one) {
    const { imported, quantity: amount } = one;
    const pet = `{"petId":${imported},"name":"Imported","quantity":${amount}}`;
    return importPets(service.databaseUrl, pet);
  }
  if ("sell" in one) {
    const body = `{"changes":[{"petId":${one.sell},"delta":${one.by}}]}`;
    return service.call("POST", "/changes", { key, headers, body });
  }
  const entries = await service.store.inventory.entriesAfter(null, 100);
  const changes = entries
    .slice(0, one.length)
    .map((entry, at) => `{"petId":${entry.petId},"quantity":${one[at]}}`);
  return service.call("POST", "/changes", { key, headers, body: `{"changes":[${changes}]}` });
}

/** What follows from the ledger up to a row, in either store. */
async function derivedAt(store: Store, seq: number) {
  const entries = await readInventory(store, seq);
  const rows = (await store.inventory.ledgerAfter(0, 1_000)).slice(0, seq);
  const read = (table: string) =>
    store.transfer.snapshot(async ({ rowsOf }) => (await Array.fromAsync(rowsOf(table))).flat());
  const hashes = (await read("ledger")).slice(0, seq).map((row) => row[12]);
  const keys = (await read("remembered_keys")).flatMap(([first, at, records]) =>
    unpackKeys({ seq: Number(first), at: Number(at), records: records as Uint8Array }),
  );
  const epochs = (await store.inventory.listEpochs()).filter(({ fromSeq }) => fromSeq < seq);
  return {
    ...{ entries, rows, hashes, epochs },
    keys: keys.filter(({ firstSeq, rows: count }) => firstSeq + count - 1 <= seq),
  };
}

/** The same time in another zone, and with more digits than a clock has. */
function written(at: number): string {
  const local = new Date(at + 19_800_000).toISOString();
  return at % 2 === 0 ? new Date(at).toISOString() : local.replace("Z", "999+05:30");
}

for (const engine of engines) {
  test(`${engine}: a restore to every moment has what the store had then, from a backup and every kind of later ledger`, async () => {
    const found = { rows: 0, keys: 0, causes: new Set<string>() };
    const history = fc.array(step, { minLength: 8, maxLength: 14 });
    await fc.assert(
      fc.asyncProperty(history, history, fc.nat(), async (before, after, some) => {
        const service = await startTestService(engine);
        try {
          const { text: key } = await service.issueKey();
          const { text: operator } = await issueOperator(service);
          await service.addPets({ petId: 1n }, { petId: 2n });
          const [first, second] = [fresh("petstore"), fresh("petstore")];
          for (const one of before) await apply(service, key, operator, one);
          await place.json("backup", first, "--database", service.databaseUrl);
          for (const one of after) await apply(service, key, operator, one);
          await place.json("backup", second, "--database", service.databaseUrl);
          const all = await service.store.inventory.ledgerAfter(0, 1_000);
          found.rows += all.length;
          found.keys += (await derivedAt(service.store, all.length)).keys.length;
          for (const { cause } of all) found.causes.add(cause);
          for (const { seq, at, petId: changed } of all) {
            const isServed = seq === 1 + (some % all.length);
            // A long run takes all.
            if (process.env.RUNS === undefined && (seq + some) % 2 === 0 && !isServed) continue;
            // The served store is read beside its service.
            const sources = [[], ["--ledger", second], ["--ledger", service.databaseUrl]];
            const source = sources[seq % 3]!;
            const file = source.length === 0 ? second : first;
            const isLast = all[seq]?.at !== at;
            const moment = isLast && seq % 4 < 2 ? written(at) : `${seq}`;
            const database =
              isServed && some % 2 === 0 ? await createdDatabase() : `sqlite:${fresh("db")}`;
            await place.json("restore", file, ...source, "--until", moment, "--database", database);
            const sound = { rows: seq, seq, faultCount: 0 };
            expect(await verifyStore(database)).toMatchObject(sound);
            const entries = await withStoreAt(database, async (store) => {
              const expected = await derivedAt(service.store, seq);
              expect(await derivedAt(store, seq)).toEqual(expected);
              const stored = await store.inventory.entriesAfter(null, 100);
              expect(stored).toEqual(expected.entries);
              const pets = await store.catalogue.petsAfter(null, 100);
              expect(pets.map((pet) => pet.petId)).toEqual(stored.map((entry) => entry.petId));
              const lastRemoval = all
                .slice(0, seq)
                .findLast((row) => row.petId === changed && row.after === null)?.seq;
              expect(await store.history.findRemoval(changed)).toBe(lastRemoval);
              return stored;
            });
            if (!isServed) continue;
            const again = await startTestService(engine, { database });
            const { text: newKey } = await again.issueKey();
            for (const { petId: id } of entries) {
              const body = '{"quantity":7}';
              const { status } = await again.call("PATCH", `/inventory/${id}`, {
                key: newKey,
                body,
              });
              expect(status).toBe(200);
            }
            await again.stop();
            const now = seq + entries.length;
            expect(await verifyStore(database)).toMatchObject({ seq: now, faultCount: 0 });
          }
        } finally {
          await service.stop();
        }
      }),
      runs(2),
    );
    expect(found.rows).toBeGreaterThan(30);
    expect(found.keys).toBeGreaterThan(8);
    expect([...found.causes].sort()).toEqual(["api", "console", "count", "import", "undo"]);
  }, 600_000);
}
