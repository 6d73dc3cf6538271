import { unpackKeys } from "../ledger/idempotency.ts";
import { type Note, noteFor, type Tables } from "./rows.ts";
import type { StoredRow } from "./store.ts";

/**
 * Compares remembered idempotency keys with the ledger. Both are read in order, side by side: one
 * row of a table is in memory at a time, and no row is searched.
 */
export interface RememberedKeysCheck {
  /** Checks the keys of the next ledger row. Wait for the result if there is one. */
  row(seq: number, at: number): Promise<void> | undefined;
  /** Checks the keys that no ledger row has reached. */
  end(lastSeq: number): Promise<void>;
}

export async function createRememberedKeysCheck(tables: Tables): Promise<RememberedKeysCheck> {
  const rows = rowsIn(tables);
  /** The next row of the table. */
  let next: StoredRow | undefined;
  let nextSeq = Number.POSITIVE_INFINITY;
  /** The current commit in the ledger: its time, its last row, and a function that records its faults. */
  let current: { readonly note: Note; readonly at: number; readonly lastSeq: number } | undefined;

  async function advance(): Promise<void> {
    next = (await rows.next()).value;
    nextSeq = next ? Number(next[0]) : Number.POSITIVE_INFINITY;
  }

  /** Makes the next row the current one. */
  async function take(): Promise<void> {
    const row = next!;
    const note = noteFor(tables, "remembered_keys", row);
    const lastSeq = checkRecords(row, note);
    current = { note, at: Number(row[1]), lastSeq };
    await advance();
    if (nextSeq <= lastSeq) note(`its keys reach to row ${lastSeq}`, `less than ${nextSeq}`);
  }

  function checkTime(at: number): void {
    if (current!.at === at) return;
    current!.note(`at is ${current!.at}`, `${at}, the time of its rows`);
    current = undefined;
  }

  async function reach(seq: number, at: number): Promise<void> {
    while (nextSeq <= seq) {
      const isMissed = nextSeq < seq;
      await take();
      if (isMissed) current!.note("there is no such row", "a row of the ledger");
    }
    if (seq <= current!.lastSeq) checkTime(at);
  }

  function checkEnd(lastSeq: number): void {
    if (!current || current.lastSeq <= lastSeq) return;
    const found = `its keys reach to row ${current.lastSeq}`;
    current.note(found, `at most ${lastSeq}, the last ledger row`);
  }

  await advance();
  return {
    row(seq, at) {
      if (nextSeq <= seq) return reach(seq, at);
      if (current && seq <= current.lastSeq) checkTime(at);
      return undefined;
    },
    async end(lastSeq) {
      checkEnd(lastSeq);
      while (next) {
        await take();
        checkEnd(lastSeq);
      }
    },
  };
}

async function* rowsIn({ rowsOf }: Tables): AsyncGenerator<StoredRow, undefined> {
  for await (const batch of rowsOf("remembered_keys")) yield* batch;
}

/** Checks that the keys of a commit have rows one after the other. Returns the last of these rows. */
function checkRecords(row: StoredRow, note: Note): number {
  const [seq, records] = [Number(row[0]), row[2]];
  let last = seq - 1;
  if (!(records instanceof Uint8Array)) return last;
  for (const { firstSeq, rows } of unpackKeys({ seq, at: 0, records })) {
    if (rows === 0) note("a key has no rows", "1 or more");
    if (firstSeq <= last && rows > 0) {
      note(`a key starts with row ${firstSeq}`, `${last + 1} or later`);
    }
    last = Math.max(last, firstSeq + rows - 1);
  }
  return last;
}
