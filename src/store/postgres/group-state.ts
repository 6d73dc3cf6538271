import { genesisHash } from "../../domain/chain.ts";
import type { Entry } from "../../domain/inventory.ts";
import type { Tip } from "../../domain/ledger.ts";
import { entryColumns, toEntry } from "../rows.ts";
import { readTip } from "./engine/head-lock.ts";
import type { Rows } from "./engine/session.ts";

/** Reads the entries with their ctid, and the tip as a row without a pet, its hash as the status. */
export const readGroup = `
  SELECT entry.* FROM unnest($1::int8[]) AS wanted(pet_id), LATERAL (
    SELECT ${entryColumns}, ctid::text FROM inventory WHERE inventory.pet_id = wanted.pet_id
    ORDER BY generation DESC LIMIT 1) AS entry
  UNION ALL SELECT NULL, at, hash, seq, NULL FROM (${readTip}) AS tip`;

/** Reads the result of `readGroup`, or of a statement that returns the same columns. */
export function toGroupState(found: Rows) {
  let tip: Tip = { seq: 0, at: 0, hash: genesisHash };
  const entries = new Map<bigint, Entry>();
  const ctids = new Map<bigint, string>();
  for (const row of found) {
    if (row[0] === null) {
      tip = { seq: Number(row[3]), at: Number(row[1]), hash: row[2] as string };
    } else {
      entries.set(row[0] as bigint, toEntry(row));
      ctids.set(row[0] as bigint, row[4] as string);
    }
  }
  return { tip, entries, ctids };
}
