import { describe, expect, test } from "bun:test";
import { createFollower, type Replica } from "../../src/domain/follower.ts";
import type { Entry, Stock } from "../../src/domain/inventory.ts";
import type { LedgerRow } from "../../src/domain/ledger.ts";
import type { Head, Reader } from "../../src/domain/ports.ts";

/** A ledger in memory whose looks can be held back, to put them into any order. */
function createLedger() {
  let epoch = "first";
  let rows: LedgerRow[] = [];
  const looks: (() => void)[] = [];
  let held = false;
  let loads = 0;
  const fold = () => {
    const entries = new Map<bigint, Entry>();
    for (const row of rows) {
      if (row.after) entries.set(row.petId, { petId: row.petId, version: row.seq, ...row.after });
    }
    return [...entries.values()].sort((a, b) => (a.petId < b.petId ? -1 : 1));
  };
  const head = (): Head => ({ epoch, seq: rows.length, keysVersion: 0 });
  const reader = {
    async look() {
      // The head is read when the look starts, as a server reads it before it answers.
      const seen = head();
      if (held) await new Promise<void>((resolve) => looks.push(resolve));
      return seen;
    },
    ledgerAfter: async (seq: number, rowsMax: number) => rows.slice(seq, seq + rowsMax),
    async entriesAfter(petId: bigint | null, rowsMax: number) {
      loads += petId === null ? 1 : 0;
      return fold()
        .filter((entry) => petId === null || entry.petId > petId)
        .slice(0, rowsMax);
    },
  } as unknown as Reader;
  return {
    reader,
    get loads() {
      return loads;
    },
    get waitingLooks() {
      return looks.length;
    },
    head,
    add(petId: bigint, quantity: number): Entry {
      const after: Stock = { quantity, status: "available" };
      const seq = rows.length + 1;
      rows.push({ seq, petId, after } as LedgerRow);
      return { petId, version: seq, ...after };
    },
    replace(newEpoch: string, kept: number) {
      epoch = newEpoch;
      rows = rows.slice(0, kept);
    },
    hold() {
      held = true;
    },
    letLookPass() {
      looks.shift()?.();
    },
  };
}

function createReplica(): Replica & { readonly stocks: Map<bigint, number> } {
  const stocks = new Map<bigint, number>();
  return {
    stocks,
    clear: () => stocks.clear(),
    load: (entries) => {
      for (const entry of entries) stocks.set(entry.petId, entry.quantity);
    },
    apply: (petId, after) => {
      if (after) stocks.set(petId, after.quantity);
      else stocks.delete(petId);
    },
  };
}

function startFollowing() {
  const ledger = createLedger();
  const replica = createReplica();
  return { ledger, replica, follower: createFollower(ledger.reader, replica) };
}

/** Lets everything that can go on go on. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("a follower", () => {
  test("shows what was written before the read began", async () => {
    const { ledger, replica, follower } = startFollowing();
    ledger.add(1n, 5);
    await follower.catchUp();
    ledger.add(1n, 6);
    ledger.add(2n, 7);
    await follower.catchUp();
    expect([...replica.stocks]).toEqual([
      [1n, 6],
      [2n, 7],
    ]);
    expect(ledger.loads).toBe(1);
  });

  test("never shares a look that began before the read arrived", async () => {
    const { ledger, replica, follower } = startFollowing();
    ledger.add(1n, 1);
    await follower.catchUp();
    ledger.hold();
    const early = follower.catchUp();
    await settle();
    expect(ledger.waitingLooks).toBe(1);
    ledger.add(1n, 2);
    let shown: number | undefined;
    const late = Promise.resolve(follower.catchUp()).then(() => {
      shown = replica.stocks.get(1n);
    });
    ledger.letLookPass();
    await early;
    await settle();
    expect(shown).toBeUndefined();
    ledger.letLookPass();
    await late;
    expect(shown).toBe(2);
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
    const { ledger, replica, follower } = startFollowing();
    ledger.add(1n, 1);
    await follower.catchUp();
    follower.committed([ledger.add(1n, 9), "not_found", ledger.add(1n, 10)]);
    expect(follower.seq).toBe(3);
    expect(replica.stocks.get(1n)).toBe(10);
  });

  test("reads the ledger when another process wrote in between", async () => {
    const { ledger, replica, follower } = startFollowing();
    await follower.catchUp();
    ledger.add(1n, 1);
    follower.committed([ledger.add(2n, 2)]);
    await follower.catchUp();
    expect([...replica.stocks]).toEqual([
      [1n, 1],
      [2n, 2],
    ]);
  });

  test("loads afresh, once, when the store was replaced", async () => {
    const { ledger, replica, follower } = startFollowing();
    ledger.add(1n, 1);
    ledger.add(2n, 2);
    await follower.catchUp();
    ledger.replace("second", 1);
    await Promise.all([follower.catchUp(), follower.catchUp(), follower.catchUp()]);
    expect([...replica.stocks]).toEqual([[1n, 1]]);
    expect(ledger.loads).toBe(2);
    expect(follower.epoch).toBe("second");
  });

  test("loads again when the store is replaced while it is being loaded", async () => {
    const ledger = createLedger();
    const replica = createReplica();
    ledger.add(1n, 1);
    let isFirst = true;
    const entriesAfter: Reader["entriesAfter"] = async (...page) => {
      const entries = await ledger.reader.entriesAfter(...page);
      if (isFirst) {
        ledger.replace("second", 0);
        ledger.add(2n, 2);
      }
      isFirst = false;
      return entries;
    };
    const follower = createFollower({ ...ledger.reader, entriesAfter }, replica);
    await follower.catchUp();
    expect([...replica.stocks]).toEqual([[2n, 2]]);
    expect(follower.epoch).toBe("second");
  });

  test("loads afresh when rows that the head told of are gone with their store", async () => {
    const ledger = createLedger();
    const replica = createReplica();
    const ledgerAfter: Reader["ledgerAfter"] = (...page) => {
      ledger.replace("second", 1);
      return ledger.reader.ledgerAfter(...page);
    };
    const stockAfter = ledgerAfter as never;
    const follower = createFollower({ ...ledger.reader, ledgerAfter, stockAfter }, replica);
    ledger.add(1n, 1);
    await follower.catchUp();
    ledger.add(1n, 2);
    await follower.catchUp();
    expect([...replica.stocks]).toEqual([[1n, 1]]);
    expect(follower.epoch).toBe("second");
  });

  /** A store that is replaced by one with as many rows, but others, just before rows are read. */
  function startBeforeReplacement() {
    const ledger = createLedger();
    const replica = createReplica();
    let isFirst = true;
    const stockAfter: Reader["ledgerAfter"] = (...page) => {
      if (isFirst) {
        ledger.replace("second", 1);
        ledger.add(1n, 9);
      }
      isFirst = false;
      return ledger.reader.ledgerAfter(...page);
    };
    const isOutdated = (epoch: string) => epoch !== ledger.head().epoch;
    return { ledger, replica, reader: { ...ledger.reader, stockAfter, isOutdated } };
  }

  test("never shows rows of a new epoch under the old one, when it follows", async () => {
    const { ledger, replica, reader } = startBeforeReplacement();
    const follower = createFollower(reader, replica);
    ledger.add(1n, 1);
    await follower.catchUp();
    ledger.add(1n, 2);
    await follower.catchUp();
    expect([...replica.stocks]).toEqual([[1n, 9]]);
    expect(follower.epoch).toBe("second");
  });

  test("never shows rows of a new epoch under the old one, when it loads", async () => {
    const { ledger, replica, reader } = startBeforeReplacement();
    ledger.add(1n, 1);
    const entriesAfter: Reader["entriesAfter"] = async (...page) => {
      const entries = await ledger.reader.entriesAfter(...page);
      if (ledger.head().seq === 1) ledger.add(1n, 2);
      return entries;
    };
    const follower = createFollower({ ...reader, entriesAfter }, replica);
    await follower.catchUp();
    expect([...replica.stocks]).toEqual([[1n, 9]]);
    expect(follower.epoch).toBe("second");
  });

  test("does not add a commit of a new epoch to a copy of the old one", async () => {
    const { ledger, replica, reader } = startBeforeReplacement();
    const follower = createFollower(reader, replica);
    ledger.add(1n, 1);
    await follower.catchUp();
    ledger.replace("second", 1);
    follower.committed([ledger.add(2n, 2)]);
    expect([...replica.stocks]).toEqual([[1n, 1]]);
    expect(follower.seq).toBe(1);
  });

  test("loads afresh, once, when the head went back in the same epoch", async () => {
    const { ledger, replica, follower } = startFollowing();
    ledger.add(1n, 1);
    ledger.add(2n, 2);
    await follower.catchUp();
    ledger.replace("first", 1);
    await Promise.all([follower.catchUp(ledger.head()), follower.catchUp(ledger.head())]);
    expect([...replica.stocks]).toEqual([[1n, 1]]);
    expect(ledger.loads).toBe(2);
    expect(follower.seq).toBe(1);
  });

  test("does not take a look that answers late for a store that went back", async () => {
    const { ledger, replica, follower } = startFollowing();
    ledger.add(1n, 1);
    await follower.catchUp();
    ledger.hold();
    const read = follower.catchUp();
    await settle();
    follower.committed([ledger.add(1n, 2)]);
    ledger.letLookPass();
    await read;
    expect(ledger.loads).toBe(1);
    expect(replica.stocks.get(1n)).toBe(2);
  });
});
