import type { Fault } from "../../domain/verification/store.ts";
import { checkConstraints } from "../constraints.ts";
import { expectedDefinition, tables } from "../tables.ts";
import { textArray } from "./engine/arrays.ts";
import { runScript } from "./engine/scripts.ts";
import type { Session } from "./engine/session.ts";
import { schema } from "./schema.ts";

/**
 * The triggers, as PostgreSQL writes them after `CREATE TRIGGER` and their names. They keep the ledger
 * append-only and every entry with its pet.
 */
const triggers: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ledger_rows_stay:
      "BEFORE DELETE OR UPDATE OR TRUNCATE ON ledger FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('ledger rows are never changed or deleted')",
    entries_have_pets:
      "AFTER INSERT ON inventory REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION petstore_entries_have_pets()",
    entries_keep_pets:
      "BEFORE UPDATE OF pet_id ON inventory FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('an entry stays with its pet')",
    pets_keep_entries:
      "BEFORE UPDATE OF pet_id OR TRUNCATE ON pets FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('a pet stays with its entry')",
    removed_pets_have_no_entry:
      "AFTER DELETE ON pets REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION petstore_pets_keep_entries()",
    audit_rows_stay:
      "BEFORE DELETE OR UPDATE OR TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION petstore_refuse('audit rows are never changed or deleted')",
  }),
);

const presentTriggers = `
  SELECT tgname, regexp_replace(pg_get_triggerdef(oid, true), '^CREATE TRIGGER \\S+ ', '')
  FROM pg_trigger
  WHERE NOT tgisinternal AND tgenabled IN ('O', 'A')
    AND tgrelid IN (SELECT to_regclass(name) FROM unnest($1::text[]) AS ours(name))
  ORDER BY tgname`;

const madeFunction = /CREATE (?:FUNCTION|PROCEDURE) (petstore_\w+)\([\s\S]*?AS \$\$([\s\S]*?)\$\$/g;

function functionBodies(): Map<string, string> {
  const made = [...schema.matchAll(madeFunction)];
  return new Map(made.map(([, name, body]) => [name!, withoutComments(body!)]));
}

function withoutComments(body: string): string {
  return body.replaceAll(/--.*/g, "").replaceAll(/\s+/g, " ");
}

const presentBodies = `
  SELECT proname, prosrc FROM unnest($1::text[]) AS ours(name)
    JOIN pg_proc ON pg_proc.oid = to_regproc(name)`;

/**
 * Checks that the triggers and functions of the schema do what they did when they were made, that nobody
 * has added a trigger, and that every row obeys its constraints. The server itself checks its pages.
 */
export async function checkStructure({ query }: Session): Promise<readonly Fault[]> {
  const names = tables.map(({ name }) => name);
  const present = new Map(
    (await query(presentTriggers, [textArray(names)])) as readonly [string, string][],
  );
  const faults: Fault[] = [];
  for (const [name, definition] of [...triggers].sort()) {
    const found = present.get(name);
    if (found === definition) continue;
    const [, relation] = / ON (\w+)/.exec(definition)!;
    const missing = `is missing or disabled on the table ${relation}`;
    const what = found === undefined ? missing : "was altered";
    faults.push({ where: `trigger ${name}`, found: what, expected: expectedDefinition });
  }
  for (const name of present.keys()) {
    if (triggers.has(name)) continue;
    faults.push({ where: `trigger ${name}`, found: "was added", expected: "none with this name" });
  }
  const expected = functionBodies();
  const bodies = new Map(
    (await query(presentBodies, [textArray([...expected.keys()])])) as readonly [string, string][],
  );
  for (const [name, body] of expected) {
    const found = bodies.get(name);
    if (found !== undefined && withoutComments(found) === body) continue;
    const what = found === undefined ? "is missing" : "was altered";
    faults.push({ where: `function ${name}`, found: what, expected: expectedDefinition });
  }
  return [...faults, ...(await runScript(query, checkConstraints(schema)))];
}
