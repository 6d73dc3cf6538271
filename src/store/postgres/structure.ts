import type { Fault } from "../../domain/verification/store.ts";
import { expectedDefinition } from "../tables.ts";
import { textArray } from "./engine/arrays.ts";
import type { Session } from "./engine/session.ts";

/** The triggers that keep the ledger append-only and every entry with its pet, and their tables. */
const triggers = {
  ledger_rows_stay: "ledger",
  entries_have_pets: "inventory",
  entries_keep_pets: "inventory",
  pets_keep_entries: "pets",
  removed_pets_have_no_entry: "pets",
  audit_rows_stay: "audit",
};

const missingTriggers = `
  SELECT name, relation FROM unnest($1::text[], $2::text[]) AS wanted(name, relation)
  WHERE NOT EXISTS (SELECT FROM pg_trigger
    WHERE tgname = name AND tgrelid = to_regclass(relation) AND tgenabled IN ('O', 'A'))
  ORDER BY name`;

/** Checks that the triggers of the schema are enabled. The server itself checks its pages. */
export async function checkStructure({ query }: Session): Promise<readonly Fault[]> {
  const names = textArray(Object.keys(triggers));
  const relations = textArray(Object.values(triggers));
  const missing = await query(missingTriggers, [names, relations]);
  return missing.map(([name, relation]) => ({
    where: `trigger ${name}`,
    found: `is missing or disabled on the table ${relation}`,
    expected: expectedDefinition,
  }));
}
