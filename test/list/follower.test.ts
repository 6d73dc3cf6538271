import { describe, expect, test } from "bun:test";
import { Refusal } from "../../src/domain/errors.ts";
import { createFollower } from "../../src/domain/follower.ts";
import type { InventoryReader } from "../../src/domain/ports.ts";
import { createLedger, createReplica, startFollowing } from "../support/follower.ts";

/** Lets everything that can go on go on. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

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

  test("never shares a look that began before the read arrived", async () => {
    const { ledger, shown, follower } = startFollowing();
    ledger.add(1n, 1);
    await follower.catchUp();
    ledger.hold();
    const early = follower.catchUp();
    await settle();
    expect(ledger.waitingLooks).toBe(1);
    ledger.add(1n, 2);
    let read: number | undefined;
    const late = Promise.resolve(follower.catchUp()).then(() => {
      read = shown.stocks.get(1n);
    });
    ledger.letLookPass();
    await early;
    await settle();
    expect(read).toBeUndefined();
    ledger.letLookPass();
    await late;
    expect(read).toBe(2);
  });

  test("lets reads that wait for the next look share it", async () => {
    const { ledger, follower } = startFollowing();
    await follower.catchUp();
    ledger.hold();
    const reads = [follower.catchUp()];
    await settle();
    for (let read = 0; read < 50; read++) reads.push(follower.catchUp());
    ledger.letLookPass();
    await settle();
    expect(ledger.waitingLooks).toBe(1);
    ledger.letLookPass();
    await Promise.all(reads);
  });

  test("takes its own process's commits without reading them back", async () => {
    const { ledger, shown, follower } = startFollowing();
    ledger.add(1n, 1);
    await follower.catchUp();
    follower.committed([ledger.add(1n, 9), ledger.add(1n, 10)]);
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
    follower.committed([ledger.add(2n, 2)]);
    await follower.catchUp();
    expect([...shown.stocks]).toEqual([
      [1n, 1],
      [2n, 2],
    ]);
  });

  test("loads afresh, once, when the store was replaced", async () => {
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

  test("loads afresh when rows that the head told of are gone with their store", async () => {
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

  test("loads afresh, once, when the head went back in the same epoch", async () => {
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

  test("does not take a look that answers late for a store that went back", async () => {
    const { ledger, shown, follower } = startFollowing();
    ledger.add(1n, 1);
    await follower.catchUp();
    ledger.hold();
    const read = follower.catchUp();
    await settle();
    follower.committed([ledger.add(1n, 2)]);
    ledger.letLookPass();
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
    follower.committed([ledger.add(1n, 2)]);
    await follower.catchUp(readEarlier);
    expect(ledger.loads).toBe(1);
    expect(shown.at.seq).toBe(2);
    expect(shown.stocks.get(1n)).toBe(2);
  });

  test("gives others a turn during a long walk, and shows nothing of it before its end", async () => {
    const { ledger, shown, follower } = startFollowing();
    ledger.add(1n, 1);
    await follower.catchUp();
    for (let row = 0; row < 20_000; row++) ledger.add(BigInt(row), 7);
    let isWalking = true;
    const walk = Promise.resolve(follower.catchUp(ledger.head())).finally(() => {
      isWalking = false;
    });
    let turns = 0;
    while (isWalking) {
      await new Promise((resolve) => setImmediate(resolve));
      if (!isWalking) break;
      expect(shown.at.seq).toBe(1);
      expect([...shown.stocks]).toEqual([[1n, 1]]);
      turns += 1;
    }
    await walk;
    expect(turns).toBeGreaterThan(5);
    expect(shown.at.seq).toBe(20_001);
    expect(shown.stocks.size).toBe(20_000);
    expect(ledger.loads).toBe(1);
  });

  test("loads afresh instead of replaying more rows than there are entries", async () => {
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

  test("refuses to read past a missing row, says so once, and goes on when it is there", async () => {
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

  test("refuses to load a ledger that ends before its head, without reading the entries", async () => {
    const { ledger, follower } = startFollowing();
    ledger.add(1n, 1);
    ledger.skipRow();
    await expect(Promise.resolve(follower.catchUp())).rejects.toBeInstanceOf(Refusal);
    expect(follower.fault).toBe("the ledger has no row 2, but its head is 2; run petstore verify");
    expect(ledger.loads).toBe(0);
  });
});
