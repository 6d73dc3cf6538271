import { describe, expect, test } from "bun:test";
import { createFollower } from "../../src/domain/inventory/follower.ts";
import type { InventoryReader } from "../../src/domain/ledger/store.ts";
import { createLedger, createReplica } from "../support/follower.ts";

describe("a follower of a store that is replaced", () => {
  /** A store that, once armed, is replaced before rows are read. The new one has as many rows. */
  function startBeforeReplacement() {
    const ledger = createLedger();
    let isArmed = false;
    const stockAfter: InventoryReader["stockAfter"] = (...page) => {
      if (isArmed) {
        ledger.replace("second", 1);
        ledger.add(1n, 9);
      }
      isArmed = false;
      return ledger.reader.stockAfter(...page);
    };
    const isOutdated = (epoch: string) => epoch !== ledger.head().epoch;
    const arm = () => {
      isArmed = true;
    };
    return {
      ledger,
      arm,
      ...createReplica(),
      reader: { ...ledger.reader, stockAfter, isOutdated },
    };
  }

  test("never shows rows of a new epoch under the old one, when it applies rows", async () => {
    const { ledger, arm, replica, shown, reader } = startBeforeReplacement();
    const follower = createFollower(reader, replica, () => {});
    ledger.add(1n, 1);
    await follower.catchUp();
    ledger.add(1n, 2);
    arm();
    await follower.catchUp();
    expect([...shown.stocks]).toEqual([[1n, 9]]);
    expect(shown.at.epoch).toBe("second");
  });

  test("never shows rows of a new epoch under the old one, when it loads", async () => {
    const { ledger, arm, replica, shown, reader } = startBeforeReplacement();
    ledger.add(1n, 1);
    const entriesAfter: InventoryReader["entriesAfter"] = async (...page) => {
      const entries = await ledger.reader.entriesAfter(...page);
      if (ledger.head().epoch === "first" && ledger.head().seq === 1) {
        ledger.add(1n, 2);
        arm();
      }
      return entries;
    };
    const follower = createFollower({ ...reader, entriesAfter }, replica, () => {});
    await follower.catchUp();
    expect([...shown.stocks]).toEqual([[1n, 9]]);
    expect(shown.at.epoch).toBe("second");
  });

  test("does not report damage when a row is missing because the store was replaced", async () => {
    const { ledger, replica, shown, reader } = startBeforeReplacement();
    const stockAfter: InventoryReader["stockAfter"] = (...page) => {
      // The new store has fewer rows than the head that was read.
      if (ledger.head().epoch === "first") ledger.replace("second", 1);
      return ledger.reader.stockAfter(...page);
    };
    const logged: string[] = [];
    const follower = createFollower({ ...reader, stockAfter }, replica, (event) => {
      logged.push(event);
    });
    ledger.add(1n, 1);
    ledger.add(1n, 2);
    await follower.catchUp();
    expect(shown.at.epoch).toBe("second");
    expect(logged).toEqual([]);
  });

  test("does not add a commit of a new epoch to a copy of the old one", async () => {
    const { ledger, replica, shown, reader } = startBeforeReplacement();
    const follower = createFollower(reader, replica, () => {});
    ledger.add(1n, 1);
    await follower.catchUp();
    ledger.replace("second", 1);
    follower.committed([ledger.add(2n, 2)], "second");
    expect([...shown.stocks]).toEqual([[1n, 1]]);
    await follower.catchUp();
    expect(shown.at).toEqual({ epoch: "second", seq: ledger.head().seq });
  });
});
