import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { verify } from "../../src/domain/verify.ts";
import { startTestService } from "../service.ts";
import { runs } from "./runs.ts";

/** Ways to spoil a database behind the service's back, with a row number to do it at. */
const faults: Record<string, (seq: number) => string> = {
  "a quantity in the ledger": (seq) =>
    `UPDATE ledger SET quantity_after = quantity_after + 1 WHERE seq = ${seq}`,
  "a status in the ledger": (seq) =>
    `UPDATE ledger SET status_after = CASE status_after WHEN 'sold' THEN 'pending' ELSE 'sold' END
     WHERE seq = ${seq}`,
  "a quantity before": (seq) =>
    `UPDATE ledger SET quantity_before = coalesce(quantity_before, 0) + 7 WHERE seq = ${seq}`,
  "the pet of a row": (seq) => `UPDATE ledger SET pet_id = pet_id + 1000 WHERE seq = ${seq}`,
  "the row a row follows": (seq) =>
    `UPDATE ledger SET previous = CASE WHEN previous IS NULL THEN 0 ELSE NULL END WHERE seq = ${seq}`,
  "a row's time": (seq) =>
    `UPDATE ledger SET at = CASE WHEN seq = 1 THEN at + 1000000 ELSE 0 END WHERE seq = ${seq}`,
  "a row deleted": (seq) => `DELETE FROM ledger WHERE seq = ${seq}`,
  "two rows exchanged": (seq) =>
    `UPDATE ledger SET seq = CASE seq WHEN ${seq} THEN -1 ELSE seq END;
     UPDATE ledger SET seq = ${seq} WHERE seq = 1 + ${seq} % 20;
     UPDATE ledger SET seq = 1 + ${seq} % 20 WHERE seq = -1`,
  "the last row deleted": () => "DELETE FROM ledger WHERE seq = (SELECT max(seq) FROM ledger)",
  "the head": (seq) => `UPDATE head SET seq = seq + ${seq}`,
  "the head, backwards": () => "UPDATE head SET seq = seq - 1",
  "a quantity in the inventory": (seq) =>
    `UPDATE inventory SET quantity = quantity + 1 WHERE pet_id = 1 + ${seq} % 4`,
  "a status in the inventory": (seq) =>
    `UPDATE inventory SET status = CASE status WHEN 'sold' THEN 'pending' ELSE 'sold' END
     WHERE pet_id = 1 + ${seq} % 4`,
  "a version in the inventory": (seq) =>
    `UPDATE inventory SET version = version + 1 WHERE pet_id = 1 + ${seq} % 4`,
  "an entry deleted": (seq) => `DELETE FROM inventory WHERE pet_id = 1 + ${seq} % 4`,
  "an entry without a row": (seq) =>
    `INSERT INTO pets VALUES (900, 'x', NULL, '[]', '[]');
     INSERT INTO inventory VALUES (900, 1, 'available', ${seq})`,
};

test("the ledger's rows can be neither changed nor deleted as long as its triggers stand", async () => {
  const service = await startTestService();
  await service.addPets({ petId: 1n });
  const database = new Database(service.databaseUrl.slice("sqlite:".length));
  expect(() => database.run("UPDATE ledger SET quantity_after = 1")).toThrow("never changed");
  expect(() => database.run("DELETE FROM ledger")).toThrow("never deleted");
  expect(() => database.run("UPDATE inventory SET quantity = -1")).toThrow("CHECK");
  expect(() => database.run("UPDATE inventory SET status = 'lost'")).toThrow("CHECK");
  database.close();
  await service.stop();
});

test("verify finds every kind of fault, wherever it is, and none in a sound store", async () => {
  const service = await startTestService();
  const { text: key } = await service.issueKey();
  for (const id of [1n, 2n, 3n, 4n]) await service.addPets({ petId: id, quantity: Number(id) });
  for (let at = 0; at < 15; at++) {
    // No two counts alike, so that rows cannot be exchanged unnoticed.
    const body = JSON.stringify({ quantity: 100 + at });
    await service.call("PATCH", `/inventory/${1 + ((at * 7) % 4)}`, { key, body });
  }
  await service.addPets({ petId: 2n, status: "sold" });
  expect(await service.store.snapshot(verify)).toEqual({ rows: 20, entries: 4, faults: [] });

  const database = new Database(service.databaseUrl.slice("sqlite:".length));
  database.run("DROP TRIGGER ledger_rows_stay; DROP TRIGGER ledger_rows_remain");
  database.run("PRAGMA ignore_check_constraints = ON");
  const kind = fc.constantFrom(...Object.keys(faults));
  await fc.assert(
    fc.asyncProperty(kind, fc.integer({ min: 1, max: 20 }), async (name, seq) => {
      const tables = ["ledger", "inventory", "head", "pets"];
      for (const table of tables)
        database.run(`CREATE TEMP TABLE was_${table} AS SELECT * FROM ${table}`);
      try {
        database.run(faults[name]!(seq));
        const { faults: found } = await service.store.snapshot(verify);
        expect(found.length).toBeGreaterThan(0);
        for (const fault of found) expect(fault).toMatch(/^(ledger row|pet|the head)/);
      } finally {
        database.run("PRAGMA foreign_keys = OFF");
        for (const table of tables) {
          database.run(`DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM was_${table}`);
          database.run(`DROP TABLE was_${table}`);
        }
      }
    }),
    runs(120),
  );
  expect((await service.store.snapshot(verify)).faults).toEqual([]);
  database.close();
  await service.stop();
});
