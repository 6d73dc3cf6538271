import { describe, expect, test } from "bun:test";
import { epochOf, isInHistory } from "../../../src/domain/ledger/epochs.ts";
import { unitOf, versionOrReason } from "../units.ts";
import type { StoreSuite } from "./suite.ts";

/** Epochs as a store keeps them, and expected versions that name one. */
export function describeEpochs(suite: StoreSuite): void {
  const { add } = suite;
  const inventory = () => suite.store.inventory;

  async function reopen(): Promise<void> {
    await suite.store.close();
    suite.store = await suite.place.open();
  }

  describe("epochs", () => {
    test("keep every position from before a restart, and know no other", async () => {
      const positions = [];
      for (let start = 0; start < 3; start++) {
        positions.push(await inventory().readHead());
        await add({ petId: BigInt(start) });
        positions.push(await inventory().readHead());
        await reopen();
      }
      const { epoch, seq } = await inventory().readHead();
      const history = await inventory().listEpochs();
      const isKnown = (position: { epoch: string; seq: number }) =>
        isInHistory(history, seq, position);
      expect(positions.map(isKnown)).toEqual(positions.map(() => true));
      for (const row of await inventory().ledgerAfter(0, 10)) {
        expect(isKnown({ epoch: epochOf(history, row.seq)!, seq: row.seq })).toBe(true);
      }
      expect(isKnown({ epoch, seq: seq + 1 })).toBe(false);
      expect(isKnown({ epoch: "another", seq })).toBe(false);
    });

    if (!suite.isWhole) return;

    test("include that of the head, are unique and begin in order", async () => {
      for (let start = 0; start < 3; start++) {
        const { epoch, seq } = await inventory().readHead();
        const history = await inventory().listEpochs();
        const current = history.at(-1)!;
        expect(current.epoch).toBe(epoch);
        expect(current.fromSeq).toBeLessThanOrEqual(seq);
        const starts = history.map(({ fromSeq }) => fromSeq);
        expect(starts[0]).toBe(0);
        expect(starts).toEqual(starts.toSorted((one, next) => one - next));
        expect(new Set(history.map((one) => one.epoch)).size).toBe(history.length);
        await add({ petId: BigInt(start) });
        await reopen();
      }
    });

    test("in an expected version must be that in which the row was written, also after a restart", async () => {
      await add({ petId: 1n }, { petId: 2n });
      const { epoch } = await inventory().readHead();
      await reopen();
      const { outcomes } = await inventory().commit([
        unitOf({ petId: 1n, amount: 1, expected: [{ seq: 1, epoch: "another" }] }),
        unitOf({ petId: 1n, amount: 2, expected: [{ seq: 2, epoch }] }),
        unitOf({
          petId: 1n,
          amount: 3,
          expected: [
            { seq: 1, epoch: "another" },
            { seq: 1, epoch },
          ],
        }),
        unitOf({ petId: 2n, amount: 4, expected: [{ seq: 2, epoch }] }),
      ]);
      const mismatch = "version_mismatch";
      expect(outcomes.map(versionOrReason)).toEqual([mismatch, mismatch, 3, 4]);
      const history = await inventory().listEpochs();
      const now = (await inventory().readHead()).epoch;
      expect(epochOf(history, 3)).toBe(now);
      const after = await inventory().commit([
        unitOf({ petId: 1n, amount: 5, expected: [{ seq: 3, epoch: now }] }),
      ]);
      expect(after.outcomes.map(versionOrReason)).toEqual([5]);
    });
  });
}
