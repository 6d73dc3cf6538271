import { describe, expect, test } from "bun:test";
import { commandImport } from "../../../src/domain/catalogue/import-preview.ts";
import { batchesOf, orderRow, type StoreSuite } from "./suite.ts";

export function describeConstraints(suite: StoreSuite): void {
  const { add, ledger, entries, expectSound } = suite;
  describe("the database rejects", () => {
    const statements: [name: string, sql: string][] = [
      ["a change to a ledger row", "UPDATE ledger SET quantity_after = 9 WHERE seq = 1"],
      ["the deletion of a ledger row", "DELETE FROM ledger WHERE seq = 1"],
      ["a quantity below zero", "UPDATE inventory SET quantity = -1"],
      ["a quantity above 2^53 - 1", "UPDATE inventory SET quantity = 9007199254740992"],
      ["an unknown status", "UPDATE inventory SET status = 'lost'"],
      ["the deletion of a pet that has an entry", "DELETE FROM pets"],
      ["a pet without a name", "UPDATE pets SET name = NULL"],
      ["an order with an unknown status", "UPDATE orders SET status = 'lost'"],
      ["an order with a quantity below zero", "UPDATE orders SET quantity = -1"],
      [
        "a second head",
        `INSERT INTO head (id, environment, epoch, seq, at, keys_version)
         SELECT 2, environment, 'x', 0, 0, 0 FROM head`,
      ],
      [
        "a commit without a hash, as an earlier version writes it",
        `BEGIN;
         INSERT INTO ledger (seq, pet_id, quantity_before, quantity_after, status_before,
           status_after, previous, cause, key_id, request_id, reason, at)
         SELECT 2, pet_id, 1, 2, status_after, status_after, 1, 'api', 'key_a', 'req_a', NULL, at
         FROM ledger WHERE seq = 1;
         UPDATE head SET seq = 2, at = at;
         COMMIT`,
      ],
      [
        "a hash that is too short",
        `INSERT INTO ledger (seq, pet_id, quantity_after, status_after, cause, at, hash)
         SELECT 2, 2, 1, 'sold', 'import', at, substr(hash, 1, 31) FROM ledger WHERE seq = 1`,
      ],
    ];
    test("every change that breaks a rule of the schema", async () => {
      await add({ petId: 1n, quantity: 1 });
      await suite.store.catalogue.importOrders(
        batchesOf([orderRow({ id: 1n })]),
        commandImport("test"),
      );
      const before = await ledger();
      const accepted: string[] = [];
      for (const [name, sql] of statements) {
        const isAccepted = await Promise.resolve(suite.place.execute(sql)).then(
          () => true,
          () => false,
        );
        if (isAccepted) accepted.push(name);
      }
      expect(accepted).toEqual([]);
      expect(await ledger()).toEqual(before);
      expect(await entries()).toMatchObject([{ quantity: 1, status: "available" }]);
      await expectSound();
    });
  });
}
