import { describe, expect, test } from "bun:test";
import { createFollower } from "../../src/domain/inventory/follower.ts";
import type { InventoryReader } from "../../src/domain/ledger/store.ts";
import { ServiceError } from "../../src/domain/running/errors.ts";
import { turns } from "../support/committing.ts";
import { createLedger, createReplica, startFollowing } from "../support/follower.ts";
import { until } from "../support/until.ts";

/** Waits until everything that can run has run. */
const settle = () => turns(10);

describe("a follower", () => {
  test("shows what was written before the read began", async () => {
    const { ledger, shown, follower } = startFollowing();
    ledger.add(1n, 5);
    await follower.catchUp();
    ledger.add(1n, 6);
    ledger.add(2n, 7);
    await follower.catchUp();
    expect([...shown.stocks]).toEqual([
      [1n, 6],
      [2n, 7],
    ]);
    expect(ledger.loads).toBe(1);
  });

  test("never uses a read of the head that began before the request", async () => {
    const { ledger, shown, follower } = startFollowing();
    ledger.add(1n, 1);
    await follower.catchUp();
    ledger.hold();
    const early = follower.catchUp();
    await settle();
    expect(ledger.waitingReads).toBe(1);
    ledger.add(1n, 2);
    let read: number | undefined;
    const late = Promise.resolve(follower.catchUp()).then(() => {
      read = shown.stocks.get(1n);
    });
    ledger.endRead();
    await early;
    await settle();
    expect(read).toBeUndefined();
    ledger.endRead();
    await late;
    expect(read).toBe(2);
  });

  test("shares the next read of the head among all requests that wait for it", async () => {
    const { ledger, follower } = startFollowing();
    await follower.catchUp();
    ledger.hold();
    const reads = [follower.catchUp()];
    await settle();
    for (let read = 0; read < 50; read++) reads.push(follower.catchUp());
    ledger.endRead();
    await settle();
    expect(ledger.waitingReads).toBe(1);
    ledger.endRead();
    await Promise.all(reads);
  });

  test("applies commits of its own process without reading them from the store", async () => {
    const { ledger, shown, follower } = startFollowing();
    ledger.add(1n, 1);
    await follower.catchUp();
    follower.committed([ledger.add(1n, 9), ledger.add(1n, 10)], "first");
    const rowsRead = ledger.rowsRead;
    expect(follower.catchUp(ledger.head())).toBeUndefined();
    expect(ledger.rowsRead).toBe(rowsRead);
    expect(shown.at.seq).toBe(3);
    expect(shown.stocks.get(1n)).toBe(10);
  });

  test("reads the ledger when another process wrote in between", async () => {
    const { ledger, shown, follower } = startFollowing();
    await follower.catchUp();
    ledger.add(1n, 1);
    follower.committed([ledger.add(2n, 2)], "first");
    await follower.catchUp();
    expect([...shown.stocks]).toEqual([
      [1n, 1],
      [2n, 2],
    ]);
  });

  test("loads everything again, once, when the store was replaced", async () => {
    const { ledger, shown, follower } = startFollowing();
    ledger.add(1n, 1);
    ledger.add(2n, 2);
    await follower.catchUp();
    ledger.replace("second", 1);
    await Promise.all([follower.catchUp(), follower.catchUp(), follower.catchUp()]);
    expect([...shown.stocks]).toEqual([[1n, 1]]);
    expect(ledger.loads).toBe(2);
    expect(shown.at.epoch).toBe("second");
  });

  test("loads again when the store is replaced while it is being loaded", async () => {
    const ledger = createLedger();
    const { replica, shown } = createReplica();
    ledger.add(1n, 1);
    let isFirst = true;
    const entriesAfter: InventoryReader["entriesAfter"] = async (...page) => {
      const entries = await ledger.reader.entriesAfter(...page);
      if (isFirst) {
        ledger.replace("second", 0);
        ledger.add(2n, 2);
      }
      isFirst = false;
      return entries;
    };
    const follower = createFollower({ ...ledger.reader, entriesAfter }, replica, () => {});
    await follower.catchUp();
    expect([...shown.stocks]).toEqual([[2n, 2]]);
    expect(shown.at.epoch).toBe("second");
  });

  test("loads everything again when rows up to the head are missing because the store was replaced", async () => {
    const ledger = createLedger();
    const { replica, shown } = createReplica();
    const stockAfter: InventoryReader["stockAfter"] = (...page) => {
      ledger.replace("second", 1);
      return ledger.reader.stockAfter(...page);
    };
    const follower = createFollower({ ...ledger.reader, stockAfter }, replica, () => {});
    ledger.add(1n, 1);
    await follower.catchUp();
    ledger.add(1n, 2);
    await follower.catchUp();
    expect([...shown.stocks]).toEqual([[1n, 1]]);
    expect(shown.at.epoch).toBe("second");
  });

  test("loads everything again, once, when the head went back in the same epoch", async () => {
    const { ledger, shown, follower } = startFollowing();
    ledger.add(1n, 1);
    ledger.add(2n, 2);
    await follower.catchUp();
    ledger.replace("first", 1);
    await Promise.all([follower.catchUp(ledger.head()), follower.catchUp(ledger.head())]);
    expect([...shown.stocks]).toEqual([[1n, 1]]);
    expect(ledger.loads).toBe(2);
    expect(shown.at.seq).toBe(1);
  });

  test("notices by commits alone that the head went back, before their numbers follow again", async () => {
    const { ledger, shown, follower } = startFollowing();
    for (const petId of [1n, 2n, 3n]) ledger.add(petId, 1);
    await follower.catchUp();
    ledger.replace("first", 1);
    follower.committed([ledger.add(1n, 9)], "first");
    await until(() => follower.loads >= 2, 5_000, "the second load");
    for (const quantity of [10, 11]) follower.committed([ledger.add(1n, quantity)], "first");
    await follower.catchUp();
    expect([...shown.stocks]).toEqual([[1n, 11]]);
  });

  test("does not take a read that returns late for a store that went back", async () => {
    const { ledger, shown, follower } = startFollowing();
    ledger.add(1n, 1);
    await follower.catchUp();
    ledger.hold();
    const read = follower.catchUp();
    await settle();
    follower.committed([ledger.add(1n, 2)], "first");
    ledger.endRead();
    await read;
    await follower.catchUp(ledger.head());
    expect(ledger.loads).toBe(1);
    expect(shown.stocks.get(1n)).toBe(2);
  });

  test("does not take a head that its caller read earlier for a store that went back", async () => {
    const { ledger, shown, follower } = startFollowing();
    ledger.add(1n, 1);
    await follower.catchUp();
    const readEarlier = ledger.head();
    follower.committed([ledger.add(1n, 2)], "first");
    await follower.catchUp(readEarlier);
    expect(ledger.loads).toBe(1);
    expect(shown.at.seq).toBe(2);
    expect(shown.stocks.get(1n)).toBe(2);
  });

  test("yields to the event loop during a long replay, and shows nothing of it before its end", async () => {
    const { ledger, shown, follower } = startFollowing();
    ledger.add(1n, 1);
    await follower.catchUp();
    for (let row = 0; row < 20_000; row++) ledger.add(BigInt(row), 7);
    let isReplaying = true;
    const replay = Promise.resolve(follower.catchUp(ledger.head())).finally(() => {
      isReplaying = false;
    });
    let turns = 0;
    while (isReplaying) {
      await new Promise((resolve) => setImmediate(resolve));
      if (!isReplaying) break;
      expect(shown.at.seq).toBe(1);
      expect([...shown.stocks]).toEqual([[1n, 1]]);
      turns += 1;
    }
    await replay;
    expect(turns).toBeGreaterThan(5);
    expect(shown.at.seq).toBe(20_001);
    expect(shown.stocks.size).toBe(20_000);
    expect(ledger.loads).toBe(1);
  });

  test("loads everything again instead of applying many more rows than there are entries", async () => {
    const { ledger, shown, follower } = startFollowing({}, 1);
    ledger.add(1n, 1);
    await follower.catchUp();
    for (let row = 0; row < 10_000; row++) ledger.add(1n, row);
    const { rowsRead } = ledger;
    await follower.catchUp(ledger.head());
    expect(ledger.loads).toBe(2);
    expect(ledger.rowsRead - rowsRead).toBeLessThan(10);
    expect(shown.stocks.get(1n)).toBe(9_999);
  });

  test("fails at a missing row, logs that once, and continues when the row is there", async () => {
    const { ledger, shown, logged, follower } = startFollowing();
    ledger.add(1n, 1);
    await follower.catchUp();
    ledger.skipRow();
    ledger.add(1n, 3);
    for (let read = 0; read < 3; read++) {
      const refused = Promise.resolve(follower.catchUp());
      await expect(refused).rejects.toMatchObject({ code: "unavailable" });
    }
    expect(shown.at.seq).toBe(1);
    expect(follower.fault).toBe("the ledger has no row 2, but its head is 3; run petstore verify");
    expect(logged).toEqual(["ledger damaged"]);
    expect(ledger.loads).toBe(2);
    ledger.fillGaps();
    await follower.catchUp();
    expect(shown.at.seq).toBe(3);
    expect(shown.stocks.get(1n)).toBe(3);
    expect(follower.fault).toBeUndefined();
    expect(logged).toEqual(["ledger damaged", "ledger repaired"]);
  });

  test("does not load a ledger that ends before its head, and does not read the entries", async () => {
    const { ledger, follower } = startFollowing();
    ledger.add(1n, 1);
    ledger.skipRow();
    await expect(Promise.resolve(follower.catchUp())).rejects.toBeInstanceOf(ServiceError);
    expect(follower.fault).toBe("the ledger has no row 2, but its head is 2; run petstore verify");
    expect(ledger.loads).toBe(0);
  });
});
