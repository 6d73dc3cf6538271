import { describe, expect, test } from "bun:test";
import { digestOf } from "../../../src/domain/keys/keyring.ts";
import { genesisHash, hashRow } from "../../../src/domain/ledger/chain.ts";
import { epochOf } from "../../../src/domain/ledger/epochs.ts";
import type { Unit } from "../../../src/domain/ledger/ledger.ts";
import type { RowFilter } from "../../../src/domain/ledger/store.ts";
import { int64Max, int64Min } from "../../../src/domain/values/int64.ts";
import { anEntry } from "../audit.ts";
import { testStart } from "../clock.ts";
import { setUnit } from "../units.ts";
import { keyNamed, type StoreSuite } from "./suite.ts";

/** The ledger as clients and operators read it. */
export function describeHistory(suite: StoreSuite): void {
  const { add, ledger, set } = suite;
  const history = () => suite.store.history;
  const commit = (...units: readonly Unit[]) => suite.store.inventory.commit(units);

  async function reopen(): Promise<void> {
    await suite.store.close();
    suite.store = await suite.place.open();
  }

  const everyRow: RowFilter = { after: 0, upTo: Number.MAX_SAFE_INTEGER };
  const seqsOf = async (filter: Partial<RowFilter>, rowsMax = 100) =>
    (await history().listRows({ ...everyRow, ...filter }, rowsMax)).map(({ seq }) => seq);
  const seqsOfPet = async (petId: bigint, fromSeq: number, rowsMax = 100) =>
    (await history().petRows(petId, fromSeq, rowsMax)).map(({ seq }) => seq);

  test("a row is in the ledger only with its hash, and every ledger has its start", async () => {
    await add({ petId: 1n });
    await commit(set(1n, 5));
    const { seq, hash } = await history().readTip();
    expect(await history().hasRow(seq, hash)).toBe(true);
    expect(await history().hasRow(0, genesisHash)).toBe(true);
    expect(await history().hasRow(seq - 1, hash)).toBe(false);
    expect(await history().hasRow(seq + 1, hash)).toBe(false);
    expect(await history().hasRow(seq, "0".repeat(64))).toBe(false);
    await commit(set(1n, 6));
    expect(await history().hasRow(seq, hash)).toBe(true);
  });

  describe("an entry", () => {
    test("is found with its version and the epoch in which that was written", async () => {
      await add({ petId: int64Min, quantity: 4 }, { petId: int64Max, status: "sold" });
      const { epoch: first } = await suite.store.inventory.readHead();
      await reopen();
      const { epoch: second } = await commit(set(int64Max, 8));
      await reopen();
      expect(await history().findEntry(int64Min)).toEqual({
        entry: { petId: int64Min, quantity: 4, status: "available", version: 1 },
        epoch: first,
      });
      expect(await history().findEntry(int64Max)).toEqual({
        entry: { petId: int64Max, quantity: 8, status: "sold", version: 3 },
        epoch: second,
      });
      const epochs = await suite.store.inventory.listEpochs();
      expect([epochOf(epochs, 1), epochOf(epochs, 3)]).toEqual([first, second]);
      expect(await history().findEntry(7n)).toBeUndefined();
    });

    if (!suite.isWhole) return;

    test("has the newest version after any number of changes", async () => {
      await add({ petId: 1n });
      for (let quantity = 1; quantity <= 20; quantity++) await commit(set(1n, quantity));
      expect(await history().findEntry(1n)).toMatchObject({
        entry: { quantity: 20, version: 21 },
      });
    });
  });

  describe("the row at a time", () => {
    test("is the last one at or before it, also where several rows have the same time", async () => {
      await add({ petId: 1n });
      const times = [testStart];
      // Rows per moment. The clock stands still, goes on, and goes back once.
      const moments = [
        { advance: 10, rows: 3 },
        { advance: 0, rows: 1 },
        { advance: 1, rows: 1 },
        { advance: -500, rows: 2 },
        { advance: 600, rows: 7 },
      ];
      for (const { advance, rows } of moments) {
        suite.clock.advance(advance);
        for (let row = 0; row < rows; row++) {
          await commit(set(1n, row));
          times.push(Math.max(times.at(-1)!, suite.clock.now()));
        }
      }
      expect((await ledger()).map(({ at }) => at)).toEqual(times);
      for (let time = testStart - 2; time <= testStart + 130; time++) {
        const expected = times.findLastIndex((at) => at <= time) + 1;
        expect([time, await history().seqAt(time)]).toEqual([time, expected]);
      }
      const latest = Date.parse("9999-12-31T23:59:59.999Z");
      expect(await history().seqAt(latest)).toBe(times.length);
    });

    if (!suite.isWhole) return;

    test("is 0 in an empty ledger and before the first row", async () => {
      expect(await history().seqAt(testStart)).toBe(0);
      await add({ petId: 1n });
      expect(await history().seqAt(testStart - 1)).toBe(0);
      expect(await history().seqAt(0)).toBe(0);
      expect(await history().seqAt(Date.parse("0000-01-01T00:00:00Z") - 1)).toBe(0);
    });

    test("is exact in ledgers of any length", async () => {
      await add({ petId: 1n });
      for (let length = 1; length <= 20; length++) {
        const times = (await ledger()).map(({ at }) => at);
        for (const time of [times[0]! - 1, times[0]!, times.at(-1)! - 1, times.at(-1)!]) {
          expect(await history().seqAt(time)).toBe(times.filter((at) => at <= time).length);
        }
        suite.clock.advance(length % 3);
        await commit(set(1n, length));
      }
    });
  });

  describe("rows of the ledger", () => {
    test("have every field, and the name of the key", async () => {
      await add({ petId: int64Max, quantity: 2 });
      await suite.store.keys.addKey(keyNamed("key_a"), digestOf("key_a"), anEntry);
      suite.clock.advance(1_000);
      await commit(set(int64Max, 5, "größer"), setUnit(int64Max, 6, { keyId: "key_gone" }));
      const stored = await ledger();
      expect(await history().listRows(everyRow, 10)).toEqual([
        { ...stored[0]!, keyName: null },
        { ...stored[1]!, keyName: "The key key_a" },
        { ...stored[2]!, keyName: null },
      ]);
      expect(stored[1]).toEqual({
        seq: 2,
        petId: int64Max,
        before: { quantity: 2, status: "available" },
        after: { quantity: 5, status: "available" },
        previous: 1,
        cause: "api",
        keyId: "key_a",
        requestId: "req_5",
        reason: "größer",
        at: testStart + 1_000,
      });
      await suite.place.execute("UPDATE keys SET name = 'Till 4' WHERE id = 'key_a'");
      expect(await history().listRows({ ...everyRow, after: 1, upTo: 2 }, 10)).toMatchObject([
        { keyId: "key_a", keyName: "Till 4" },
      ]);
      expect(await history().petRows(int64Max, 2, 1)).toMatchObject([{ keyName: "Till 4" }]);
    });

    test("are selected by number, cause and key, in order", async () => {
      await add({ petId: 1n }, { petId: 2n });
      await commit(
        set(1n, 3),
        setUnit(2n, 4, { keyId: "key_b" }),
        setUnit(1n, 5, { cause: "undo" }),
        setUnit(2n, 6, { keyId: "key_b", cause: "undo" }),
      );
      expect(await seqsOf({})).toEqual([1, 2, 3, 4, 5, 6]);
      expect(await seqsOf({}, 2)).toEqual([1, 2]);
      expect(await seqsOf({ after: 2, upTo: 5 })).toEqual([3, 4, 5]);
      expect(await seqsOf({ after: 6 })).toEqual([]);
      expect(await seqsOf({ after: 4, upTo: 4 })).toEqual([]);
      expect(await seqsOf({ after: Number.MAX_SAFE_INTEGER })).toEqual([]);
      expect(await seqsOf({ cause: "import" })).toEqual([1, 2]);
      expect(await seqsOf({ cause: "undo" })).toEqual([5, 6]);
      expect(await seqsOf({ keyId: "key_b" })).toEqual([4, 6]);
      expect(await seqsOf({ keyId: "key_b", cause: "undo" })).toEqual([6]);
      expect(await seqsOf({ keyId: "key_b", after: 4 })).toEqual([6]);
      expect(await seqsOf({ keyId: "key_b", upTo: 5 })).toEqual([4]);
      expect(await seqsOf({ keyId: "key_b" }, 1)).toEqual([4]);
      expect(await seqsOf({ keyId: "key_c" })).toEqual([]);
    });
  });

  describe("rows of a pet", () => {
    /** Pet 1 has the rows 1, 3, 5 … 21, and pet 2 has the others. */
    async function alternate(): Promise<void> {
      await add({ petId: 1n }, { petId: 2n });
      for (let round = 1; round <= 10; round++) await commit(set(1n, round), set(2n, round));
    }

    test("are found before any row, in steps", async () => {
      await alternate();
      const search = (before: number, stepsMax: number, fromSeq = 21) =>
        history().petRowBefore(1n, fromSeq, before, stepsMax);
      for (let before = 0; before <= 25; before++) {
        const expected = before <= 1 ? 0 : Math.min(21, before % 2 === 0 ? before - 1 : before - 2);
        expect([before, await search(before, 100)]).toEqual([before, expected]);
        let seq = 21;
        let calls = 0;
        while (seq >= before && seq > 0) {
          const found = await search(before, 2, seq);
          expect(found).toBeLessThan(seq);
          seq = found;
          calls += 1;
        }
        expect([before, seq]).toEqual([before, expected]);
        expect(calls).toBeLessThanOrEqual(6);
      }
      expect(await search(2, 3)).toBe(15);
      expect(await search(22, 3)).toBe(21);
      expect(await history().petRowBefore(2n, 21, 10, 100)).toBe(0);
    });

    if (!suite.isWhole) return;

    test("come newest first from a row of the pet, and not at all from another row", async () => {
      await alternate();
      expect(await seqsOfPet(1n, 21)).toEqual([21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1]);
      expect(await seqsOfPet(2n, 6)).toEqual([6, 4, 2]);
      expect(await seqsOfPet(1n, 21, 3)).toEqual([21, 19, 17]);
      expect(await seqsOfPet(1n, 21, 1)).toEqual([21]);
      expect(await seqsOfPet(2n, 21)).toEqual([]);
      expect(await seqsOfPet(3n, 21)).toEqual([]);
      expect(await seqsOfPet(1n, 23)).toEqual([]);
      expect(await seqsOfPet(1n, 0)).toEqual([]);
      const [newest, older] = await history().petRows(1n, 21, 2);
      expect(newest!.before).toEqual(older!.after);
    });
  });

  test("a snapshot reads the history as of one moment", async () => {
    await add({ petId: 1n });
    await suite.store.transfer.snapshot(async (snapshot) => {
      const tip = await snapshot.readTip();
      await commit(set(1n, 5));
      expect(await snapshot.readTip()).toEqual(tip);
      expect(await snapshot.findEntry(1n)).toMatchObject({ entry: { version: 1 } });
      expect(await snapshot.seqAt(testStart + 1)).toBe(1);
      expect(await snapshot.listRows(everyRow, 10)).toHaveLength(1);
      expect(await snapshot.petRows(1n, 2, 10)).toEqual([]);
    });
    expect(await history().readTip()).toMatchObject({ seq: 2 });
  });

  if (!suite.isWhole) return;

  describe("the tip", () => {
    test("of an empty ledger is row 0 with the hash of an empty text", async () => {
      expect(await history().readTip()).toMatchObject({ seq: 0, hash: genesisHash });
    });

    test("has the number, the time and the chained hash of the last row", async () => {
      await add({ petId: 1n }, { petId: 2n });
      suite.clock.advance(5_000);
      await commit(set(1n, 3, "eins, zwei, drei 🐕"), set(2n, 4));
      const hash = (await ledger()).reduce(hashRow, genesisHash);
      expect(await history().readTip()).toEqual({ seq: 4, at: testStart + 5_000, hash });
      await reopen();
      expect(await history().readTip()).toEqual({ seq: 4, at: testStart + 5_000, hash });
    });
  });
}
