import { expect } from "bun:test";
import { digestOfTexts } from "../../../src/domain/ledger/idempotency.ts";
import type { Outcome, Stored, Unit } from "../../../src/domain/ledger/ledger.ts";
import type { Store } from "../../../src/domain/store.ts";
import { unitOf } from "../units.ts";

export const keptMs = 60_000;

/** The same unit with an idempotency key. Its request is a digest of what it asks for. */
export function keyed(
  key: string,
  unit: Unit,
  request = JSON.stringify(unit, stringifyBigint),
): Unit {
  const idempotency = { key: digestOfTexts(key), request: digestOfTexts(request), keptMs };
  return { ...unit, idempotency };
}

function stringifyBigint(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

export const adding = (petId: bigint, amount: number) => unitOf({ petId, kind: "add", amount });
export const addOnce = (key: string, amount = 1) => keyed(key, adding(1n, amount));

export function storedOf(outcome: Outcome | undefined): Stored {
  if (outcome?.kind !== "stored") throw new Error(`not stored: ${JSON.stringify(outcome)}`);
  return outcome;
}

export const commitTo = (store: Store, ...units: readonly Unit[]) => store.inventory.commit(units);

/** Commits a unit again and expects the first result, without a new row. */
export async function expectReplay(store: Store, unit: Unit, first: Outcome | undefined) {
  const before = await store.inventory.readHead();
  const { rows, outcomes } = await commitTo(store, unit);
  expect(rows).toEqual([]);
  expect(outcomes).toEqual([{ ...storedOf(first), isReplayed: true }]);
  expect((await store.inventory.readHead()).seq).toBe(before.seq);
}

/** The commits whose keys the store has. */
export function countKeys(store: Store): Promise<number> {
  return store.transfer.snapshot(async ({ rowsOf }) => {
    let rows = 0;
    for await (const batch of rowsOf("remembered_keys")) rows += batch.length;
    return rows;
  });
}
