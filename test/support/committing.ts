import type { GroupingBounds } from "../../src/domain/commits/groups.ts";
import type { Committed, LedgerRow, Unit } from "../../src/domain/ledger/ledger.ts";
import { setUnit } from "./units.ts";

export const oneAtATime: GroupingBounds = {
  transactionsMax: 1,
  overlapMin: 0,
  callersMax: 0,
  waitMsMax: 0,
};

/** A unit of several changes, identified by its request id. */
export function unitOf(changes: number, requestId: string, keyId: string | null = null): Unit {
  const one = setUnit(1n, 1, { requestId, keyId });
  return { ...one, changes: Array.from({ length: changes }, () => one.changes[0]!) };
}

/** What a store returns for units of unknown pets. */
export function unknown(units: readonly Unit[]): Committed {
  const rejected = {
    kind: "rejected",
    reason: "not_found",
    index: 0,
    current: undefined,
    epoch: undefined,
  } as const;
  return { epoch: "first", rows: [], outcomes: units.map(() => rejected) };
}

/** Lets the event loop turn. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A store whose transactions last until the test ends them. Those with a unit named "alone" do not overlap. */
export function controlledStore() {
  const transactions: {
    readonly ids: (string | null)[];
    /** With a ledger row of this number, if it is given. */
    end(seq?: number): void;
    fail(error: Error): void;
  }[] = [];
  let onCommit = () => {};
  return {
    transactions,
    /** Resolves when this many transactions have begun. */
    async begun(count: number): Promise<void> {
      while (transactions.length < count) {
        await new Promise<void>((resolve) => {
          onCommit = resolve;
        });
      }
    },
    mayOverlap: (units: readonly Unit[]) => !units.some(({ requestId }) => requestId === "alone"),
    commit(units: readonly Unit[]): Promise<Committed> {
      const { promise, resolve, reject } = Promise.withResolvers<Committed>();
      const ids = units.map(({ requestId }) => requestId);
      const end = (seq?: number) =>
        resolve({ ...unknown(units), rows: seq === undefined ? [] : [{ seq } as LedgerRow] });
      transactions.push({ ids, end, fail: reject });
      onCommit();
      return promise;
    },
  };
}
