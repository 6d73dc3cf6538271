import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkHistory } from "../support/linearizability/checker.ts";
import type { History, LedgerRow, Read, Update } from "../support/linearizability/history.ts";
import { rightHistory } from "../support/linearizability/simulation.ts";

function kindsOf(history: History): string[] {
  return [...new Set(checkHistory(history).map((violation) => violation.kind))];
}

/** Pets 1 and 2 start with 0. Times have no unit. */
function record(parts: { updates?: Update[]; reads?: Read[]; ledger?: LedgerRow[] }): History {
  const initial = new Map([
    [1n, 0],
    [2n, 0],
  ]);
  return { initial, initialSeq: 0n, updates: [], reads: [], ledger: [], ...parts };
}

function update(id: string, petId: bigint, quantity: number, start: number, end: number): Update {
  return { id, petId, quantity, start, end, outcome: "acknowledged" };
}

function row(seq: bigint, id: string, petId: bigint, before: number, after: number): LedgerRow {
  return { seq, id, petId, quantityBefore: before, quantityAfter: after };
}

function list(start: number, end: number, one: number, two: number): Read {
  return {
    start,
    end,
    entries: new Map([
      [1n, one],
      [2n, two],
    ]),
  };
}

describe("the checker catches", () => {
  const updates = [update("a", 1n, 5, 0, 1), update("b", 2n, 7, 2, 3)];
  const ledger = [row(1n, "a", 1n, 0, 5), row(2n, "b", 2n, 0, 7)];

  test("nothing in a correct history", () => {
    const reads = [list(0, 1, 0, 0), list(2, 3, 5, 0), list(4, 5, 5, 7)];
    expect(checkHistory(record({ updates, ledger, reads }))).toEqual([]);
  });

  test("a list that misses an update acknowledged before it began", () => {
    const reads = [list(4, 5, 5, 0)];
    expect(kindsOf(record({ updates, ledger, reads }))).toEqual(["stale read", "not a register"]);
  });

  test("a list that is older than an earlier list", () => {
    const slow = [update("a", 1n, 5, 0, 100)];
    const reads = [list(10, 11, 5, 0), list(12, 13, 0, 0)];
    const history = record({ updates: slow, ledger: ledger.slice(0, 1), reads });
    expect(kindsOf(history)).toEqual(["stale read", "not a register"]);
  });

  test("a list that shows an update before it began", () => {
    const reads = [list(0, 1, 5, 7)];
    expect(kindsOf(record({ updates, ledger, reads }))).toEqual(["early read", "not a register"]);
  });

  test("a list that combines two states", () => {
    const together = updates.map((each) => ({ ...each, start: 0, end: 9 }));
    // Each pet alone is correct; only the combination is not.
    const reads = [list(0, 9, 0, 7)];
    expect(kindsOf(record({ updates: together, ledger, reads }))).toEqual(["torn list"]);
  });

  test("an acknowledged update that is in no row", () => {
    expect(kindsOf(record({ updates, ledger: ledger.slice(0, 1) }))).toEqual(["lost update"]);
  });

  test("an acknowledged update that a ledger hides together with its effect", () => {
    const reads = [list(4, 5, 5, 0)];
    const hidden = record({ updates, ledger: ledger.slice(0, 1), reads });
    expect(kindsOf(hidden)).toEqual(["lost update", "not a register"]);
  });

  test("an update applied twice", () => {
    const twice = [...ledger, row(3n, "a", 1n, 5, 5)];
    expect(kindsOf(record({ updates, ledger: twice }))).toContain("duplicated update");
  });

  test("an update of unknown outcome applied twice, but not one applied once or never", () => {
    const unknown: Update[] = [{ ...updates[0]!, outcome: "unknown" }];
    const once = ledger.slice(0, 1);
    expect(checkHistory(record({ updates: unknown }))).toEqual([]);
    expect(checkHistory(record({ updates: unknown, ledger: once }))).toEqual([]);
    const twice = [...once, row(2n, "a", 1n, 5, 5)];
    expect(kindsOf(record({ updates: unknown, ledger: twice }))).toEqual(["duplicated update"]);
  });

  test("an update that was answered without an outcome and stored after a later acknowledged one", () => {
    const unknown: Update = { ...updates[0]!, outcome: "unknown" };
    const late = [row(1n, "b", 2n, 0, 7), row(2n, "a", 1n, 0, 5)];
    const history = record({ updates: [unknown, updates[1]!], ledger: late });
    expect(kindsOf(history)).toEqual(["late update"]);
    // Over the same pet it is seen by reads, too.
    const [first, second] = [{ ...unknown, petId: 2n }, updates[1]!];
    const over = [row(1n, "b", 2n, 0, 7), row(2n, "a", 2n, 7, 5)];
    expect(kindsOf(record({ updates: [first, second], ledger: over }))).toEqual(["late update"]);
  });

  test("no late update if it was stored in time, if the other had begun or failed, or without an answer", () => {
    const late = [row(1n, "b", 2n, 0, 7), row(2n, "a", 1n, 0, 5)];
    const kinds = (one: Partial<Update>, other: Partial<Update>, rows = late) =>
      kindsOf(
        record({
          updates: [
            { ...updates[0]!, ...one },
            { ...updates[1]!, ...other },
          ],
          ledger: rows,
        }),
      );
    expect(kinds({ outcome: "unknown" }, {}, ledger)).toEqual([]);
    expect(kinds({ outcome: "unknown" }, { start: 0.5 })).toEqual([]);
    expect(kinds({ outcome: "unknown" }, { outcome: "unknown" })).toEqual([]);
    expect(kinds({ outcome: "unanswered" }, {})).toEqual([]);
  });

  test("a rejected update that was applied, and a row without an update", () => {
    const refused: Update[] = [{ ...updates[0]!, outcome: "refused" }];
    const once = ledger.slice(0, 1);
    expect(kindsOf(record({ updates: refused, ledger: once }))).toEqual(["late update"]);
    expect(kindsOf(record({ ledger: once }))).toEqual(["unasked row"]);
  });

  test("rows in another order than the acknowledgements, a wrong before, a gap", () => {
    const swapped = [row(1n, "b", 2n, 0, 7), row(2n, "a", 1n, 0, 5)];
    expect(kindsOf(record({ updates, ledger: swapped }))).toEqual(["wrong order"]);
    const before = [ledger[0]!, { ...ledger[1]!, quantityBefore: 3 }];
    expect(kindsOf(record({ updates, ledger: before }))).toEqual(["wrong before"]);
    const gap = [ledger[0]!, { ...ledger[1]!, seq: 3n }];
    expect(kindsOf(record({ updates, ledger: gap }))).toEqual(["gap"]);
  });
});

describe("over random histories", () => {
  test("the history of a correct inventory passes", () => {
    fc.assert(fc.property(rightHistory, (history) => checkHistory(history).length === 0));
  });

  test("a lost row, a doubled row or a shifted before fails", () => {
    fc.assert(
      fc.property(rightHistory, fc.nat(), fc.nat(2), (history, pick, damage) => {
        const acknowledged = new Set(
          history.updates.filter((one) => one.outcome === "acknowledged").map((one) => one.id),
        );
        const rows = history.ledger.filter((one) => acknowledged.has(one.id));
        fc.pre(rows.length > 0);
        const at = history.ledger.indexOf(rows[pick % rows.length]!);
        const hit = history.ledger[at]!;
        const put = [[], [hit, hit], [{ ...hit, quantityBefore: 99 }]][damage]!;
        const ledger = history.ledger.toSpliced(at, 1, ...put);
        return checkHistory({ ...history, ledger }).length > 0;
      }),
    );
  });

  test("an update of unknown outcome that is moved behind a later acknowledged one fails", () => {
    fc.assert(
      fc.property(rightHistory, (history) => {
        const late = Math.max(...history.updates.map((one) => one.end), 0) + 1000;
        const seq = BigInt(history.ledger.length);
        const held: Update = { ...update("held", 1n, 77, late, late + 1), outcome: "unknown" };
        const next = update("next", 2n, 78, late + 2, late + 3);
        const last = (petId: bigint) =>
          history.ledger.findLast((one) => one.petId === petId)?.quantityAfter ?? 0;
        const rows = (...ids: string[]) =>
          ids.map((id, at) => {
            const { petId, quantity } = id === "held" ? held : next;
            return row(seq + 1n + BigInt(at), id, petId, last(petId), quantity);
          });
        const kinds = (...ids: string[]) =>
          kindsOf({
            ...history,
            updates: [...history.updates, held, next],
            ledger: [...history.ledger, ...rows(...ids)],
          });
        expect(kinds("held", "next")).toEqual([]);
        expect(kinds("next", "held")).toEqual(["late update"]);
      }),
    );
  });

  test("a list replaced by one from before an acknowledged update fails", () => {
    fc.assert(
      fc.property(rightHistory, fc.nat(), (history, pick) => {
        const late = Math.max(...history.updates.map((one) => one.end), 0) + 1000;
        const final = new Map(history.initial);
        for (const one of history.ledger) final.set(one.petId, one.quantityAfter!);
        // A quantity that is used nowhere else ensures that the last update changes the list.
        const last = { ...update("last", 1n, 77, late, late + 1) };
        const seq = BigInt(history.ledger.length + 1);
        const ledger = [...history.ledger, row(seq, "last", 1n, final.get(1n)!, 77)];
        const updates = [...history.updates, last];
        const fresh = { start: late + 2, end: late + 3, entries: new Map(final).set(1n, 77) };
        const stale = [
          { ...fresh, entries: final },
          ...history.reads.map((one) => ({ ...fresh, entries: one.entries })),
        ];
        const withRead = (read: Read) =>
          checkHistory({ ...history, updates, ledger, reads: [...history.reads, read] });
        return withRead(fresh).length === 0 && withRead(stale[pick % stale.length]!).length > 0;
      }),
    );
  });
});
