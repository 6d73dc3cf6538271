import { describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { commandImport } from "../src/domain/catalogue/import-preview.ts";
import {
  type EpochStart,
  epochOf,
  isInHistory,
  type Position,
} from "../src/domain/ledger/epochs.ts";
import type { Store } from "../src/domain/store.ts";
import { openSqlite } from "../src/store/sqlite/store.ts";
import { createTestClock } from "./support/clock.ts";
import { petRow } from "./support/pets.ts";
import { runs } from "./support/properties/runs.ts";
import { setUnit, unitOf, versionOrReason } from "./support/units.ts";

describe("the history of epochs", () => {
  // The second start wrote nothing.
  const history = [
    { epoch: "a", fromSeq: 0 },
    { epoch: "b", fromSeq: 10 },
    { epoch: "c", fromSeq: 10 },
    { epoch: "d", fromSeq: 12 },
  ];

  test.each([
    [0, undefined],
    [1, "a"],
    [10, "a"],
    [11, "c"],
    [12, "c"],
    [13, "d"],
  ])("row %p was written in epoch %p", (seq, epoch) => {
    expect(epochOf(history, seq)).toBe(epoch);
  });

  test.each([
    ["a", 0, true],
    ["a", 10, true],
    ["a", 11, false],
    ["b", 9, false],
    ["b", 10, true],
    ["b", 11, false],
    ["c", 12, true],
    ["d", 12, true],
    ["d", 15, true],
    ["d", 16, false],
    ["unknown", 5, false],
  ])("a position in epoch %p at row %p is in history: %p", (epoch, seq, expected) => {
    expect(isInHistory(history, 15, { epoch, seq })).toBe(expected);
  });

  test("a position is in history exactly if the same rows lead to it, whatever is copied and restored", () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constant("write" as const) },
      { weight: 2, arbitrary: fc.constant("restart" as const) },
      { weight: 1, arbitrary: fc.constant("copy" as const) },
      { weight: 1, arbitrary: fc.constant("restore" as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let starts = 0;
        // A row is a number that no other row has, so equal ledgers have equal texts.
        let written = 0;
        let rows: readonly number[] = [];
        let epochs: readonly EpochStart[] = [];
        let copy = { rows, epochs };
        const seen: (Position & { ledger: string })[] = [];
        const begin = () => {
          epochs = [...epochs, { epoch: `epoch ${starts++}`, fromSeq: rows.length }];
        };
        const note = () => {
          seen.push({ epoch: epochs.at(-1)!.epoch, seq: rows.length, ledger: rows.join() });
        };
        begin();
        note();
        for (const one of steps) {
          if (one === "copy") copy = { rows, epochs };
          if (one === "write") rows = [...rows, written++];
          if (one === "restore") ({ rows, epochs } = copy);
          if (one === "restart" || one === "restore") begin();
          note();
        }
        for (const { ledger, ...position } of seen) {
          const isKnown = isInHistory(epochs, rows.length, position);
          const isSame = rows.slice(0, position.seq).join() === ledger;
          // Never a wrong one. A right one is missed only if the restored copy is older than its epoch.
          if (isKnown) expect(isSame).toBe(true);
          else if (isSame) expect(epochs.some(({ epoch }) => epoch === position.epoch)).toBe(false);
        }
      }),
      runs(500),
    );
  });
});

describe("a SQLite store that is restored from a copy", () => {
  const head = async (store: Store) => store.inventory.readHead();

  test("rejects positions and versions that the restore removed, and accepts those of the copy", async () => {
    const folder = mkdtempSync(join(tmpdir(), "petstore-epochs-"));
    const [path, copy] = [join(folder, "test.db"), join(folder, "copy.db")];
    const serve = () =>
      openSqlite({ path, environment: "production", clock: createTestClock(), threaded: true });
    const set = (store: Store, quantity: number) => store.inventory.commit([setUnit(1n, quantity)]);

    let store = await serve();
    await store.catalogue.importPets(once([petRow({ petId: 1n })]), commandImport("test"));
    await set(store, 2);
    const kept = await head(store);
    await store.close();
    copyFileSync(path, copy);

    store = await serve();
    await set(store, 3);
    const lost = await head(store);
    await store.close();
    for (const ending of ["-wal", "-shm", "-changes"]) rmSync(path + ending, { force: true });
    copyFileSync(copy, path);

    store = await serve();
    await set(store, 4);
    const now = await head(store);
    expect([kept.seq, lost.seq, now.seq]).toEqual([2, 3, 3]);
    const history = await store.inventory.listEpochs();
    const isKnown = (position: Position) => isInHistory(history, now.seq, position);
    expect([kept, lost, now].map(isKnown)).toEqual([true, false, true]);

    const expecting = ({ epoch, seq }: Position, amount: number) =>
      unitOf({ petId: 1n, amount, expected: [{ epoch, seq }] });
    const { outcomes } = await store.inventory.commit([expecting(lost, 5), expecting(now, 6)]);
    expect(outcomes.map(versionOrReason)).toEqual(["version_mismatch", 4]);
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}
