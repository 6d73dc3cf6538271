import { fieldText, genesisHash, hashText } from "../ledger/chain.ts";
import type { Tables } from "./rows.ts";
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

export function createChainCheck(
  { faults }: Pick<Tables, "faults">,
  kept: KeptHash | undefined,
): ChainCheck {
  /** The last row's hash, as it follows from all rows before it. */
  let hash: string = genesisHash;
  /** The same as it is stored. Differs from `hash` only after a fault. */
  let stored: string = genesisHash;

  /** Hashes a row. After a fault either hash of the row before it may be the right one. */
  function follow(row: StoredRow, expected: string): void {
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

  checkKept(0);
  return {
    row(row) {
      const seq = Number(row[0]);
      const own = row[12] instanceof Uint8Array ? Buffer.from(row[12]).toString("hex") : "none";
      follow(row, own);
      if (own !== hash) {
        faults.note(`ledger row ${seq}`, `its hash is ${own}`, `${hash} for its content`);
      }
      stored = own;
      checkKept(seq);
    },
    end(lastSeq, headHash) {
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
