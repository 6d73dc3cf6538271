import { hash } from "node:crypto";
import type { LedgerRow } from "./ledger.ts";

/**
 * The hash chain of the ledger. The hash of a row covers its content and the hash of the row before
 * it, so it covers the whole ledger up to that row. Whoever keeps one hash can check later that no
 * row up to it was changed, added or removed.
 */

/** The hash of an empty ledger: SHA-256 of an empty text. */
export const genesisHash = hash("sha256", "");

/** The fields of a row that its hash covers: all but `previous`, which follows from other rows. */
export type HashedRow = Omit<LedgerRow, "previous">;

/** SHA-256 in hexadecimal digits, of the previous row's hash followed by the text of this row. */
export function hashRow(previousHash: string, row: HashedRow): string {
  return hash("sha256", previousHash + rowText(row));
}

/**
 * A row as a JSON array without spaces. The keys and requests of this service contain no character
 * that JSON escapes, but a ledger that was edited may, so every text is encoded.
 */
export function rowText(row: HashedRow): string {
  const { before, after } = row;
  const stocks = `${before ? before.quantity : null},${text(before ? before.status : null)},${
    after ? after.quantity : null
  },${text(after ? after.status : null)}`;
  const origin = `${text(row.cause)},${text(row.keyId)},${text(row.requestId)},${text(row.reason)}`;
  return `[${row.seq},${row.petId},${stocks},${origin},${row.at}]`;
}

const plain = /^[\w.:-]*$/;

/** The same as JSON.stringify, which takes longer for short plain texts. */
function text(value: string | null): string {
  if (value === null) return "null";
  return plain.test(value) ? `"${value}"` : JSON.stringify(value);
}
