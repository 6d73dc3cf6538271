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
  return hashText(previousHash, rowText(row));
}

export function hashText(previousHash: string, rowText: string): string {
  return hash("sha256", previousHash + rowText);
}

/** A row as a JSON array without spaces. One call for most fields is the fastest way to encode them. */
export function rowText(row: HashedRow): string {
  const { before, after } = row;
  const fields = JSON.stringify([
    before ? before.quantity : null,
    before ? before.status : null,
    after ? after.quantity : null,
    after ? after.status : null,
    row.cause,
    row.keyId,
    row.requestId,
    row.reason,
    row.at,
  ]);
  // JSON.stringify does not accept the pet id, which is a bigint.
  return `[${row.seq},${row.petId},${fields.slice(1)}`;
}

/** The fields of that text that say why a row was added, and by whom. */
export function sourceText(
  cause: string,
  keyId: string | null,
  requestId: string | null,
  reason: string | null,
): string {
  return `${fieldText(cause)},${fieldText(keyId)},${fieldText(requestId)},${fieldText(reason)}`;
}

const plain = /^[\w.:-]*$/;

/** One field of that text as it is stored: a text, null, or an integer, which may be a bigint. */
export function fieldText(value: unknown): string {
  if (typeof value !== "string") return `${value}`;
  // JSON.stringify takes longer for short plain texts.
  return plain.test(value) ? `"${value}"` : JSON.stringify(value);
}
