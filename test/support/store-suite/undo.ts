import { describe, expect, test } from "bun:test";
import { undoRow, undoStore } from "../../../src/domain/history/undo.ts";
import { digestOf } from "../../../src/domain/keys/keyring.ts";
import { epochOf, isInHistory } from "../../../src/domain/ledger/epochs.ts";
import type { Store } from "../../../src/domain/store.ts";
import { anEntry } from "../audit.ts";
import { testStart } from "../clock.ts";
import { keyNamed, type StoreSuite } from "./suite.ts";

/** What depends on how a store reads rows and stores units. */
export function describeUndo(suite: StoreSuite): void {
  const { add, entries, ledger, set } = suite;

  describe("an undo", () => {
    test("gives the quantity and status from before the row, as a new row", async () => {
      await add({ petId: 7n, quantity: 4, status: "pending" });
      await add({ petId: 7n, quantity: 9, status: "sold" });
      suite.clock.advance(1_000);
      const outcome = await undoRow(undoStore(suite.store), 2);
      const row = {
        seq: 3,
        petId: 7n,
        before: { quantity: 9, status: "sold" },
        after: { quantity: 4, status: "pending" },
        previous: 2,
        cause: "undo",
        keyId: null,
        requestId: null,
        reason: "undo of 2",
        at: testStart + 1_000,
      };
      expect(outcome).toMatchObject({ kind: "undone", row });
      expect((await ledger()).at(-1)).toEqual(row as never);
      expect(await entries()).toEqual([{ petId: 7n, quantity: 4, status: "pending", version: 3 }]);
      await suite.expectSound();
    });

    test("of a row that another row followed names that row, and changes nothing", async () => {
      await suite.store.keys.addKey(keyNamed("key_a"), digestOf("key_a"), anEntry);
      await add({ petId: 1n, quantity: 4 }, { petId: 2n });
      await suite.store.inventory.commit([set(1n, 9), set(1n, 10), set(2n, 5)]);
      const before = await ledger();
      expect(await undoRow(undoStore(suite.store), 3)).toMatchObject({
        kind: "changed_since",
        latest: { seq: 4, keyId: "key_a", keyName: "The key key_a", at: testStart },
      });
      expect(await ledger()).toEqual(before);
      expect(await entries()).toMatchObject([{ quantity: 10 }, { quantity: 5 }]);
      // A change to another pet does not matter.
      expect(await undoRow(undoStore(suite.store), 4)).toMatchObject({ kind: "undone" });
    });

    test("is refused if the entry changes between the read and the write", async () => {
      await add({ petId: 1n, quantity: 4 });
      await suite.store.inventory.commit([set(1n, 9)]);
      const other = await suite.place.open();
      const { inventory } = suite.store;
      const overtaken: Pick<Store, "inventory" | "history"> = {
        history: suite.store.history,
        inventory: {
          ...inventory,
          async commit(units) {
            await other.inventory.commit([set(1n, 11)]);
            return inventory.commit(units);
          },
        },
      };
      expect(await undoRow(undoStore(overtaken), 2)).toMatchObject({
        kind: "changed_since",
        latest: { seq: 3, after: { quantity: 11 } },
      });
      expect(await entries()).toMatchObject([{ quantity: 11, version: 3 }]);
    });

    test("and an update at the same moment never both take effect on the same version", async () => {
      await add({ petId: 1n, quantity: 0 });
      const other = await suite.place.open();
      for (let round = 1; round <= 8; round++) {
        await suite.store.inventory.commit([set(1n, round)]);
        const { seq, before } = (await ledger()).at(-1)!;
        const [undone] = await Promise.all([
          undoRow(undoStore(other), seq),
          suite.store.inventory.commit([set(1n, 1_000 + round)]),
        ]);
        const after = (await suite.store.inventory.ledgerAfter(seq, 9)).map(({ cause, after }) => [
          cause,
          after!.quantity,
        ]);
        const update = ["api" as const, 1_000 + round];
        if (undone.kind === "undone") {
          expect(after).toEqual([["undo", before!.quantity], update]);
        } else expect(after).toEqual([update]);
      }
      await suite.expectSound();
    });
  });
}

/** What is decided before a unit reaches the store, whatever the engine. */
export function describeUndoRules(suite: StoreSuite): void {
  const { add, ledger, set } = suite;

  describe("an undo", () => {
    test("can itself be undone", async () => {
      await add({ petId: 1n, quantity: 4 });
      await suite.store.inventory.commit([set(1n, 9)]);
      await undoRow(undoStore(suite.store), 2);
      expect(await undoRow(undoStore(suite.store), 3)).toMatchObject({
        kind: "undone",
        row: { seq: 4, after: { quantity: 9 }, reason: "undo of 3" },
      });
      await suite.expectSound();
    });

    test("with force overwrites later changes", async () => {
      await add({ petId: 1n, quantity: 4 });
      await suite.store.inventory.commit([set(1n, 9), set(1n, 10)]);
      expect(await undoRow(undoStore(suite.store), 2, { force: true })).toMatchObject({
        kind: "undone",
        row: { seq: 4, before: { quantity: 10 }, after: { quantity: 4 } },
      });
    });

    test("of a row that created a pet is refused, also with force", async () => {
      await add({ petId: 1n, quantity: 4 });
      for (const force of [false, true]) {
        const outcome = await undoRow(undoStore(suite.store), 1, { force });
        expect(outcome).toEqual({ kind: "creates_entry", petId: 1n });
      }
      expect(await ledger()).toHaveLength(1);
    });

    test("of a row that does not exist fails", async () => {
      await add({ petId: 1n });
      for (const seq of [2, Number.MAX_SAFE_INTEGER]) {
        await expect(undoRow(undoStore(suite.store), seq, { force: true })).rejects.toThrow(
          `There is no ledger row ${seq}.`,
        );
      }
    });

    test("keeps the reason that is given, unless it breaks the rule", async () => {
      await add({ petId: 1n, quantity: 4 });
      await suite.store.inventory.commit([set(1n, 9)]);
      for (const reason of ["x".repeat(201), "a\nb", "\ud800"]) {
        await expect(undoRow(undoStore(suite.store), 2, { reason })).rejects.toThrow(
          "Field 'reason' must have at most 200 characters and no control characters.",
        );
      }
      expect(await undoRow(undoStore(suite.store), 2, { reason: "wrong pet 🐢" })).toMatchObject({
        row: { seq: 3, reason: "wrong pet 🐢" },
      });
      expect((await ledger()).at(-1)).toMatchObject({ seq: 3, reason: "wrong pet 🐢" });
    });

    test("keeps earlier positions and the epochs of earlier rows valid", async () => {
      await add({ petId: 1n, quantity: 4 }, { petId: 2n });
      await suite.store.inventory.commit([set(1n, 9)]);
      const before = await suite.store.inventory.readHead();
      const epochsBefore = await suite.store.inventory.listEpochs();
      await undoRow(undoStore(suite.store), 3);
      const head = await suite.store.inventory.readHead();
      const epochs = await suite.store.inventory.listEpochs();
      expect(isInHistory(epochs, head.seq, before)).toBe(true);
      for (const seq of [1, 2, 3]) expect(epochOf(epochs, seq)).toBe(epochOf(epochsBefore, seq)!);
      expect(epochOf(epochs, head.seq)).toBe(head.epoch);
      const untouched = await suite.store.history.findEntry(2n);
      expect(untouched).toMatchObject({ entry: { version: 2 }, epoch: epochOf(epochs, 2)! });
    });
  });
}
