import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { enterPlace, type Place } from "../process.ts";

let place: Place;
beforeEach(async () => {
  place = enterPlace();
  const stdin = '{"petId":1,"name":"Rex","quantity":3}\n{"petId":2,"name":"Luna"}\n';
  await place.run(["pets", "import", "-"], { stdin });
});
afterEach(() => place.leave());

/** Does to the file what only a faulty disk or a hand in the database could. */
function tamper(...statements: string[]): void {
  const database = new Database(place.path("data/production.db"));
  for (const statement of statements) database.run(statement);
  database.close();
}

test("a store in which ledger and inventory agree gives exit code 0", async () => {
  expect(await place.run(["verify"])).toEqual({
    code: 0,
    out: "All is well: 2 ledger rows, 2 entries.\n",
    err: "",
  });
  expect(await place.json("verify")).toEqual({ rows: 2, entries: 2, faults: [] });
});

const wrongs: [name: string, statements: string[], fault: string][] = [
  [
    "an entry changed behind the ledger's back",
    ["UPDATE inventory SET quantity = 4 WHERE pet_id = 1"],
    "pet 1: the inventory differs from the ledger",
  ],
  [
    "an entry that was removed",
    ["DELETE FROM inventory WHERE pet_id = 2"],
    "pet 2 is in the ledger and not in the inventory",
  ],
  [
    "a head that is ahead of its ledger",
    ["UPDATE head SET seq = 3"],
    "the head says 3, the ledger ends at 2",
  ],
  [
    "a ledger row that was taken out",
    ["DROP TRIGGER ledger_rows_remain", "DELETE FROM ledger WHERE seq = 1"],
    "ledger row 1 is missing; the next is 2",
  ],
  [
    "a ledger row that was rewritten",
    ["DROP TRIGGER ledger_rows_stay", "UPDATE ledger SET quantity_before = 1 WHERE seq = 2"],
    "ledger row 2: its 'before' is not the 'after' of pet 2's last row",
  ],
];
for (const [name, statements, fault] of wrongs) {
  test(`${name} is found, named, and gives exit code 1`, async () => {
    tamper(...statements);
    const found = await place.run(["verify"]);
    expect(found.code).toBe(1);
    expect(found.out).toContain(`${fault}\n`);
    expect(found.out).toContain("Not well: ");
    expect(found.err).toBe("");
    const asJson = await place.run(["verify", "--json"]);
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.out).faults).toContain(fault);
  });
}
