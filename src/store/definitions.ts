import type { Fault } from "../domain/verification/store.ts";

/** What a schema consists of, such as "trigger ledger_rows_stay", and how each is defined. */
type Definitions = ReadonlyMap<string, string>;

/**
 * Compares a store with the schema. Without its triggers the ledger is not append-only, and a trigger or a
 * view that was added can change what is stored. An index or a table that an operator added is allowed.
 */
export function compareDefinitions(expected: Definitions, present: Definitions): Fault[] {
  const faults: Fault[] = [];
  for (const [where, definition] of expected) {
    const found = present.get(where);
    if (found === definition) continue;
    const what = found === undefined ? "is missing" : "was altered";
    faults.push({ where, found: what, expected: "its definition in this version of petstore" });
  }
  for (const where of present.keys()) {
    if (expected.has(where) || !/^(?:trigger|view) /.test(where)) continue;
    faults.push({ where, found: "was added", expected: "none with this name" });
  }
  return faults;
}
