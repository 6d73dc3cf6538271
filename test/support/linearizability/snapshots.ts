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
  const seen: { end: number; seq: bigint }[] = [];
  for (const read of history.reads.toSorted((a, b) => a.start - b.start)) {
    let from = history.initialSeq;
    let to = history.ledger.at(-1)?.seq ?? history.initialSeq;
    for (const { seq, start, end } of placed) {
      if (end < read.start && seq > from) from = seq;
      if (start > read.end && seq <= to) to = seq - 1n;
    }
    for (const earlier of seen) {
      if (earlier.end < read.start && earlier.seq > from) from = earlier.seq;
    }
    const fits = (states.get(digestOf(read.entries)) ?? []).filter(
      (seq) => read.seq === undefined || read.seq === seq,
    );
    const seq = fits.find((candidate) => candidate >= from && candidate <= to);
    if (seq === undefined) violations.push(explain(read, fits, from, to));
    else seen.push({ end: read.end, seq });
  }
  return violations;
}

/** The updates in the ledger. One of unknown outcome never ends, so it constrains no read. */
function placeUpdates({ updates, ledger }: History) {
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
