import { expect, test } from "bun:test";
import { createCommitter } from "../src/domain/commits.ts";
import type { Committed, LedgerRow, Unit } from "../src/domain/ledger.ts";
import { setUnit } from "./support/units.ts";

const unit = (petId: bigint) => setUnit(petId, 1);

/** What a store returns for units of unknown pets. */
function unknown(units: readonly Unit[]): Committed {
  const rejected = { kind: "rejected", reason: "not_found", index: 0, current: undefined } as const;
  return { rows: [], outcomes: units.map(() => rejected) };
}

test("a disk that hangs keeps no update waiting, and what it stored in the end is shown", async () => {
  const hanging = Promise.withResolvers<void>();
  const committed: (readonly LedgerRow[])[] = [];
  const row = { seq: 1, petId: 1n } as LedgerRow;
  let commits = 0;
  const store = {
    async commit(units: readonly Unit[]): Promise<Committed> {
      commits += 1;
      if (commits === 1) await hanging.promise;
      return { ...unknown(units), rows: [row] };
    },
  };
  const bounds = { groupMax: 10, queueMax: 10, answerMsMax: 50 };
  const committer = createCommitter(store, bounds, (rows) => committed.push(rows));
  const refused = expect.objectContaining({ code: "unavailable" });

  const first = committer.submit(unit(1n));
  const behind = Bun.sleep(10).then(() => committer.submit(unit(2n)));
  const [sent, unsent] = await Promise.allSettled([first, behind]);
  expect(sent).toEqual({ status: "rejected", reason: refused });
  expect(sent).toMatchObject({ reason: { message: expect.stringContaining("may have been") } });
  expect(unsent).toEqual({ status: "rejected", reason: refused });
  await expect(committer.submit(unit(3n))).rejects.toEqual(refused);
  expect(commits).toBe(1);
  expect(committer.isStuck).toBe(true);

  hanging.resolve();
  await committer.idle();
  expect(committer.isStuck).toBe(false);
  expect(committed).toEqual([[row]]);
  expect(await committer.submit(unit(4n))).toMatchObject({ reason: "not_found" });
  expect(commits).toBe(2);
});

test("a change whose connection is rejected in the turn in which a commit ends is not stored", async () => {
  const first = Promise.withResolvers<void>();
  const stored: bigint[] = [];
  const store = {
    async commit(units: readonly Unit[]): Promise<Committed> {
      stored.push(...units.map(({ changes }) => changes[0]!.petId));
      if (stored.length === 1) await first.promise;
      return unknown(units);
    },
  };
  const bounds = { groupMax: 10, queueMax: 10, answerMsMax: 1_000 };
  const committer = createCommitter(store, bounds, () => {});
  const underWay = committer.submit(unit(1n));
  await Bun.sleep(1);
  expect(stored).toEqual([1n]);

  // One turn: the request is handed over, the commit before it ends, the parser rejects the rest.
  const connection = new AbortController();
  const rejected = committer.submit(unit(2n), connection.signal);
  first.resolve();
  for (let step = 0; step < 100; step++) await null;
  connection.abort();
  await expect(rejected).rejects.toMatchObject({ code: "invalid_request" });
  await underWay;
  expect(stored).toEqual([1n]);

  // Nothing is left behind: the next change is stored.
  expect(await committer.submit(unit(3n))).toMatchObject({ reason: "not_found" });
  expect(stored).toEqual([1n, 3n]);
});
