import { entryColumns, ledgerColumns, stockColumns, undoColumns } from "./rows.ts";

// What both engines read of the inventory and its ledger. $1 is where a page starts, $2 its length.

export const ledgerAfter = `SELECT ${ledgerColumns} FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2`;
export const stockAfter = `SELECT ${stockColumns} FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2`;
export const undoFrom = `SELECT ${undoColumns} FROM ledger
  WHERE seq <= $1 ORDER BY seq DESC LIMIT $2`;
export const entriesFrom = `SELECT ${entryColumns} FROM inventory
  WHERE pet_id >= $1 ORDER BY pet_id LIMIT $2`;
