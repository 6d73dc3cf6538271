import type { Stock } from "./inventory.ts";
import type { LedgerRow } from "./ledger.ts";
import type { Reader } from "./ports.ts";

export interface Verification {
  readonly rows: number;
  readonly entries: number;
  /** The first few things found wrong, in words; empty when all is well. */
  readonly faults: readonly string[];
}

const faultsMax = 20;
const pageRows = 10_000;

interface Last {
  readonly seq: number;
  readonly after: Stock | null;
}

/** Recomputes the inventory from the ledger, row by row, and compares it with what is stored. */
export async function verify(reader: Reader): Promise<Verification> {
  const faults: string[] = [];
  const note = (fault: string) => {
    if (faults.length < faultsMax) faults.push(fault);
  };
  const fold = new Map<bigint, Last>();
  let seq = 0;
  let at = 0;
  for (;;) {
    const rows = await reader.ledgerAfter(seq, pageRows);
    for (const row of rows) {
      if (row.seq !== seq + 1) note(`ledger row ${seq + 1} is missing; the next is ${row.seq}`);
      if (row.at < at) note(`ledger row ${row.seq} is older than the row before it`);
      checkRow(row, fold.get(row.petId), note);
      fold.set(row.petId, { seq: row.seq, after: row.after });
      seq = row.seq;
      at = row.at;
    }
    if (rows.length < pageRows) break;
  }
  const head = await reader.look();
  if (head.seq !== seq) note(`the head says ${head.seq}, the ledger ends at ${seq}`);
  const entries = await compareEntries(reader, fold, note);
  return { rows: seq, entries, faults };
}

function checkRow(row: LedgerRow, last: Last | undefined, note: (fault: string) => void): void {
  if (!sameStock(row.before, last?.after ?? null)) {
    note(`ledger row ${row.seq}: its 'before' is not the 'after' of pet ${row.petId}'s last row`);
  }
  if (row.previous !== (last?.after ? last.seq : null)) {
    note(`ledger row ${row.seq} does not point at pet ${row.petId}'s last row`);
  }
  if (row.before === null && row.after === null) note(`ledger row ${row.seq} changes nothing`);
}

async function compareEntries(
  reader: Reader,
  fold: Map<bigint, Last>,
  note: (fault: string) => void,
): Promise<number> {
  let count = 0;
  let after: bigint | null = null;
  for (;;) {
    const entries = await reader.entriesAfter(after, pageRows);
    for (const entry of entries) {
      const last = fold.get(entry.petId);
      if (!sameStock(entry, last?.after ?? null)) {
        note(`pet ${entry.petId}: the inventory differs from the ledger`);
      } else if (last?.seq !== entry.version) {
        note(`pet ${entry.petId}: the inventory names row ${entry.version}, not ${last?.seq}`);
      }
      fold.delete(entry.petId);
    }
    count += entries.length;
    if (entries.length < pageRows) break;
    after = entries.at(-1)!.petId;
  }
  for (const [petId, last] of fold) {
    if (last.after) note(`pet ${petId} is in the ledger and not in the inventory`);
  }
  return count;
}

function sameStock(one: Stock | null, other: Stock | null): boolean {
  if (one === null || other === null) return one === other;
  return one.quantity === other.quantity && one.status === other.status;
}
