import type { Update } from "./history.ts";

export type RegisterRead = { start: number; end: number; value: number | undefined };
type Write = Pick<Update, "start" | "end" | "quantity" | "outcome">;
type Operation = { start: number; end: number; value: number | undefined; writes: boolean };

/** One possible order of the operations so far. */
type State = {
  value: number | undefined;
  /** All operations below this index have taken effect, and those in `done`. */
  prefix: number;
  done: ReadonlySet<number>;
  usedUnknown: readonly number[];
};

/** The operations of one pet, those that must take effect and those that may, sorted by start. */
type Problem = { operations: readonly Operation[]; unknown: readonly Write[] };

/**
 * Searches for an order of effects that explains what the clients saw of one pet. Each operation
 * takes effect once between its start and its end, and a read returns the last value written.
 * Returns undefined if there is such an order, otherwise where the search ended.
 *
 * This is the search of Wing and Gong with a set of visited states. Three observations keep it
 * small. A read that returns the current value can take effect immediately, because it changes
 * nothing. A write of unknown outcome matters only directly before a read that returns its value.
 * And a value that is still to be read must not be overwritten if no remaining write restores it.
 */
export function checkRegister(
  initial: number | undefined,
  writes: readonly Write[],
  reads: readonly RegisterRead[],
): string | undefined {
  const problem = sortOut(writes, reads);
  const { operations } = problem;
  const visited = new Set<string>();
  const stack: State[] = [{ value: initial, prefix: 0, done: new Set(), usedUnknown: [] }];
  let furthest: State | undefined;
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const state = takeMatchingReads(next, operations);
    if (state.prefix === operations.length) return undefined;
    const key = keyOf(state);
    if (visited.has(key)) continue;
    visited.add(key);
    if (furthest === undefined || state.prefix > furthest.prefix) furthest = state;
    if (!valueIsStillNeeded(state, problem)) stack.push(...successors(state, problem).reverse());
  }
  const { value, start, end, writes: isWrite } = operations[furthest!.prefix]!;
  return `no order goes on from the value ${furthest!.value} to the ${isWrite ? "write" : "read"} of ${value} from ${start} to ${end}`;
}

function keyOf({ prefix, done, value, usedUnknown }: State): string {
  return `${prefix}|${[...done].sort((a, b) => a - b)}|${value}|${usedUnknown}`;
}

function sortOut(writes: readonly Write[], reads: readonly RegisterRead[]): Problem {
  const byStart = (a: { start: number }, b: { start: number }) => a.start - b.start;
  const acknowledged = writes
    .filter((write) => write.outcome === "acknowledged")
    .map((write) => ({ ...write, value: write.quantity, writes: true }));
  const operations: Operation[] = [
    ...acknowledged,
    ...reads.map((read) => ({ ...read, writes: false })),
  ];
  return {
    operations: operations.toSorted(byStart),
    unknown: writes.filter((write) => write.outcome !== "acknowledged").toSorted(byStart),
  };
}

/**
 * The operations that may take effect next: those that began before any pending one ended. They are
 * sorted by start, so the search ends at the first that began too late.
 */
function eligible(state: State, operations: readonly Operation[]) {
  const indexes: number[] = [];
  let firstEnd = Number.POSITIVE_INFINITY;
  for (let index = state.prefix; index < operations.length; index++) {
    if (state.done.has(index)) continue;
    const { start, end } = operations[index]!;
    if (start > firstEnd) break;
    indexes.push(index);
    firstEnd = Math.min(firstEnd, end);
  }
  return { indexes, firstEnd };
}

function takeMatchingReads(state: State, operations: readonly Operation[]): State {
  for (let current = state; ; ) {
    const reads = eligible(current, operations).indexes.filter((index) => {
      const operation = operations[index]!;
      return !operation.writes && operation.value === current.value;
    });
    if (reads.length === 0) return current;
    current = take(current, reads);
  }
}

/** True if a pending read returns the current value, and no pending write writes it again. */
function valueIsStillNeeded(state: State, { operations, unknown }: Problem): boolean {
  let needed = false;
  for (let index = state.prefix; index < operations.length; index++) {
    const operation = operations[index]!;
    if (operation.value !== state.value || state.done.has(index)) continue;
    if (operation.writes) return false;
    needed = true;
  }
  return (
    needed &&
    !unknown.some(
      (write, index) => write.quantity === state.value && !state.usedUnknown.includes(index),
    )
  );
}

function successors(state: State, { operations, unknown }: Problem): State[] {
  const { indexes, firstEnd } = eligible(state, operations);
  const next: State[] = [];
  for (const index of indexes) {
    const { value, writes } = operations[index]!;
    if (writes) {
      next.push({ ...take(state, [index]), value });
      continue;
    }
    // Two unknown writes of the same value that have both begun are interchangeable.
    const cause = unknown.findIndex(
      (write, at) =>
        write.quantity === value && write.start <= firstEnd && !state.usedUnknown.includes(at),
    );
    if (cause === -1) continue;
    const usedUnknown = [...state.usedUnknown, cause].toSorted((a, b) => a - b);
    next.push({ ...take(state, [index]), value, usedUnknown });
  }
  return next;
}

/** The state with more operations done, in a normal form, so that equal states are equal texts. */
function take(state: State, indexes: readonly number[]): State {
  const done = new Set([...state.done, ...indexes]);
  let prefix = state.prefix;
  while (done.delete(prefix)) prefix++;
  return { ...state, prefix, done };
}
