import type { Position } from "./epochs.ts";
import { seqMax } from "./ledger.ts";

/**
 * A cursor is the text of a position in the ledger. Clients keep it and send it back to continue
 * there. They must not interpret it.
 */
export function formatCursor({ epoch, seq }: Position): string {
  return `${epoch}-${seq}`;
}

/** A position that a client sent. A plain `seq` has no epoch and refers to the current history. */
export interface Cursor {
  readonly epoch: string | undefined;
  readonly seq: number;
}

/** No real cursor is longer. Bounds the work for text that a client made up. */
export const cursorCharactersMax = 200;
const [epochForm, seqForm] = ["[0-9A-Za-z][0-9A-Za-z.-]*", "(?:0|[1-9][0-9]{0,15})"];
export const cursorPattern = `^${epochForm}-${seqForm}$`;
/** A cursor, or the plain number of a ledger row. */
export const positionPattern = `^(?:(${epochForm})-)?(${seqForm})$`;
const position = new RegExp(positionPattern);

/** Parses a cursor, or the plain number of a ledger row. */
export function parseCursor(text: string): Cursor | undefined {
  if (text.length > cursorCharactersMax) return undefined;
  const [, epoch, digits] = position.exec(text) ?? [];
  const seq = digits === undefined ? Number.NaN : Number(digits);
  return seq <= seqMax ? { epoch, seq } : undefined;
}
