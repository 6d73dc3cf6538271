import type { History, LedgerRow, Read, Violation } from "./history.ts";

/**
 * Checks that each list is the whole inventory at one `seq`, that it shows everything acknowledged
 * before the read began and nothing that began after it ended, and that no list is older than an
 * earlier one. The smallest possible `seq` is always the best choice for a list, because it
 * constrains later lists the least. No search is needed.
 */
export function checkSnapshots(history: History): Violation[] {
  const violations: Violation[] = [];
  const states = replayAll(history);
  const placed = placeUpdates(history);
  const lastSeq = history.ledger.at(-1)?.seq ?? history.initialSeq;
  const firstAfter = firstSeqAfter(placed, lastSeq + 1n);
  const reads = history.reads.toSorted((a, b) => a.start - b.start);
  /** The `seq` that each read so far has shown. */
  const shown = new Map<Read, bigint>();
  /** A read must show everything that ended before it began. */
  const ends = [...placed, ...reads].toSorted((a, b) => a.end - b.end);
  let from = history.initialSeq;
  let ended = 0;
  for (const read of reads) {
    for (; ended < ends.length && ends[ended]!.end < read.start; ended++) {
      const one = ends[ended]!;
      // A read that ended before this one began also began before it.
      const seq = "entries" in one ? shown.get(one) : one.seq;
      if (seq !== undefined && seq > from) from = seq;
    }
    const to = firstAfter(read.end) - 1n;
    const fits = (states.get(digestOf(read.entries)) ?? []).filter(
      (seq) => read.seq === undefined || read.seq === seq,
    );
    const seq = fits.find((candidate) => candidate >= from && candidate <= to);
    if (seq === undefined) violations.push(explain(read, fits, from, to));
    else shown.set(read, seq);
  }
  return violations;
}

type Placed = { readonly seq: bigint; readonly start: number; readonly end: number };

/** Returns a function that finds the smallest `seq` of the updates that began after a time. */
function firstSeqAfter(placed: readonly Placed[], otherwise: bigint): (time: number) => bigint {
  const byStart = placed.toSorted((a, b) => a.start - b.start);
  const smallest = Array<bigint>(byStart.length + 1).fill(otherwise);
  for (let at = byStart.length - 1; at >= 0; at--) {
    const { seq } = byStart[at]!;
    smallest[at] = seq < smallest[at + 1]! ? seq : smallest[at + 1]!;
  }
  return (time) => {
    let low = 0;
    for (let high = byStart.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (byStart[middle]!.start > time) high = middle;
      else low = middle + 1;
    }
    return smallest[low]!;
  };
}

/** The updates in the ledger. One of unknown outcome never ends, so it constrains no read. */
function placeUpdates({ updates, ledger }: History): Placed[] {
  const byId = new Map(updates.map((update) => [update.id, update]));
  return ledger.flatMap(({ seq, id }) => {
    const update = byId.get(id);
    if (update === undefined) return [];
    const end = update.outcome === "acknowledged" ? update.end : Number.POSITIVE_INFINITY;
    return [{ seq, start: update.start, end }];
  });
}

function explain(read: Read, fits: readonly bigint[], from: bigint, to: bigint): Violation {
  const when = `The list read from ${read.start} to ${read.end}`;
  const last = fits.at(-1);
  if (last === undefined) {
    return { kind: "torn list", message: `${when} is the inventory as of no seq` };
  }
  if (last < from) {
    return { kind: "stale read", message: `${when} shows seq ${last}, it had to show ${from}` };
  }
  return { kind: "early read", message: `${when} shows seq ${last}, it could show ${to} at most` };
}

/** Maps the digest of an inventory to every `seq`, ascending, at which it was the inventory. */
function replayAll({ initial, initialSeq, ledger }: History): Map<bigint, bigint[]> {
  const seqs = new Map<bigint, bigint[]>();
  const quantities = new Map(initial);
  let digest = digestOf(quantities);
  const note = (seq: bigint) => {
    const known = seqs.get(digest);
    if (known) known.push(seq);
    else seqs.set(digest, [seq]);
  };
  note(initialSeq);
  for (const row of ledger) {
    digest = BigInt.asUintN(64, digest + difference(quantities, row));
    note(row.seq);
  }
  return seqs;
}

function difference(quantities: Map<bigint, number>, row: LedgerRow): bigint {
  const before = quantities.get(row.petId);
  let change = before === undefined ? 0n : -digestOfEntry(row.petId, before);
  quantities.delete(row.petId);
  if (row.quantityAfter !== null) {
    quantities.set(row.petId, row.quantityAfter);
    change += digestOfEntry(row.petId, row.quantityAfter);
  }
  return change;
}

/** A sum, so that one row changes it in one step. 10,000 lists of 1,000 pets stay affordable. */
function digestOf(entries: ReadonlyMap<bigint, number>): bigint {
  let digest = 0n;
  for (const [petId, quantity] of entries) digest += digestOfEntry(petId, quantity);
  return BigInt.asUintN(64, digest);
}

function digestOfEntry(petId: bigint, quantity: number): bigint {
  return BigInt(Bun.hash(`${petId}:${quantity}`));
}
