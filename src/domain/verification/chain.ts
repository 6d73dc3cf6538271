import { fieldText, genesisHash, hashText } from "../ledger/chain.ts";
import { checkRows, type Tables } from "./columns.ts";
import type { StoredRow } from "./store.ts";

/** Recomputes the hash chain, row by row in the order of the ledger. */
export interface ChainCheck {
  /** Checks the next row. */
  row(row: StoredRow): void;
  /**
   * Checks what can be told only at the end of the ledger. `headHash` is the hash in the head, if
   * there is a head. Returns the hash of the last row.
   */
  end(lastSeq: number, headHash: string | undefined): string;
}

/** A hash that someone kept, of a row that should still have it. */
export interface KeptHash {
  readonly seq: number;
  /** 64 hexadecimal digits in lower case. */
  readonly hash: string;
}

export async function createChainCheck(
  tables: Tables,
  kept: KeptHash | undefined,
): Promise<ChainCheck> {
  const { faults } = tables;
  const start = await readStart(tables);
  /** The last row's hash, as it follows from all rows before it. */
  let hash: string = genesisHash;
  /** The same as it is stored. Differs from `hash` only after a fault. */
  let stored: string = genesisHash;

  /** Hashes a row. After a fault either hash of the row before it may be the right one. */
  function follow(row: StoredRow, expected: string | undefined): void {
    const text = storedText(row);
    const found = hashText(stored, text);
    hash = found === expected || hash === stored ? found : hashText(hash, text);
  }

  function checkKept(seq: number): void {
    if (kept?.seq !== seq || stored === kept.hash) return;
    faults.note(
      `ledger row ${seq}`,
      `its hash is ${stored}`,
      `${kept.hash}, the hash that was given`,
    );
  }

  /** Compares the hash of the last row that has none with the one that the migration computed. */
  let isStarted = false;
  function checkStart(): void {
    isStarted = true;
    stored = start.hash;
    if (hash === start.hash) return;
    const { seq } = start;
    if (seq === 0) faults.note("the chain", `starts with ${start.hash}`, `${genesisHash} in row 0`);
    else faults.note(`ledger rows 1 to ${seq}`, `their digest is ${hash}`, start.hash);
  }

  if (start.seq === 0) checkStart();
  checkKept(0);
  return {
    row(row) {
      const seq = Number(row[0]);
      const where = `ledger row ${seq}`;
      const bytes = row[12] instanceof Uint8Array ? row[12] : undefined;
      const own = bytes && Buffer.from(bytes).toString("hex");
      if (seq > start.seq && !isStarted) checkStart();
      follow(row, own);
      if (seq <= start.seq) {
        if (own !== undefined) faults.note(where, "has a hash", `none up to row ${start.seq}`);
        stored = hash;
        if (seq === start.seq) checkStart();
      } else {
        if (own === undefined) faults.note(where, "has no hash", hash);
        else if (own !== hash) faults.note(where, `its hash is ${own}`, `${hash} for its content`);
        stored = own ?? hash;
      }
      checkKept(seq);
    },
    end(lastSeq, headHash) {
      if (start.seq > lastSeq) {
        faults.note("the chain", `from_seq is ${start.seq}`, `at most ${lastSeq}, the last row`);
      }
      if (headHash !== undefined && headHash !== hash && headHash !== stored) {
        faults.note("the head", `hash is ${headHash}`, `${stored}, the hash of the last row`);
      }
      if (kept && kept.seq > lastSeq) {
        faults.note(`ledger row ${kept.seq}`, `the ledger ends at ${lastSeq}`, kept.hash);
      }
      return stored;
    },
  };
}

/** The text of a row with its values as they are stored, so that no change is converted away. */
export function storedText(row: StoredRow): string {
  const [seq, petId, before, after, statusBefore, statusAfter, , ...others] = row;
  const fields = [seq, petId, before, statusBefore, after, statusAfter, ...others.slice(0, 5)];
  return `[${fields.map(fieldText).join()}]`;
}

/** Reads where the chain starts: the last row without a hash, and the hash that follows from it. */
async function readStart(tables: Tables) {
  let first: StoredRow | undefined;
  const rows = await checkRows(tables, "chain", (row) => {
    first ??= row;
  });
  if (rows !== 1) tables.faults.note("the chain", `has ${rows} rows`, "exactly 1");
  return first ? { seq: Number(first[1]), hash: String(first[2]) } : { seq: 0, hash: genesisHash };
}
