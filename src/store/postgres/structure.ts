import type { Fault } from "../../domain/verification/store.ts";
import { checkConstraints, tablesIn } from "../constraints.ts";
import { expectedDefinition } from "../tables.ts";
import { textArray } from "./engine/arrays.ts";
import { runScript } from "./engine/scripts.ts";
import type { Session } from "./engine/session.ts";
import { schema } from "./schema.ts";

/** The triggers, by name. The schema writes them as PostgreSQL shows them. */
const triggers = new Map(
  [...schema.matchAll(/CREATE TRIGGER (\w+) ([^;]+);/g)].map(([, name, definition]) => [
    name!,
    definition!.replaceAll(/\s+/g, " "),
  ]),
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

const tables = tablesIn(schema);
const tableNames = textArray(tables.map(([name]) => name));

/** The columns of the schema as `presentColumns` returns them. Keys are never null. */
const columns = tables.flatMap(([table, body]) =>
  [...body.matchAll(/(\w+)\s+(int\d|text|bytea)\b([^,\n]*)/g)].map(([, name, type, rest]) => {
    const isKey = body.split("PRIMARY KEY (")[1]?.split(")")[0]?.split(", ").includes(name!);
    const isNeeded = isKey || /NOT NULL|PRIMARY KEY/.test(rest!);
    return [`${table}.${name}`, `${type}${isNeeded ? " NOT NULL" : ""}`] as const;
  }),
);

const presentColumns = `
  SELECT name || '.' || attname, typname || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END
  FROM unnest($1::text[]) AS ours(name)
    JOIN pg_attribute ON attrelid = to_regclass(name) JOIN pg_type ON pg_type.oid = atttypid
  WHERE attnum > 0`;

async function checkColumns({ query }: Session): Promise<Fault[]> {
  const rows = (await query(presentColumns, [tableNames])) as readonly [string, string][];
  const present = new Map(rows);
  return columns
    .filter(([name, type]) => present.get(name) !== type)
    .map(([name, expected]) => {
      const found = present.get(name);
      return { where: `column ${name}`, found: found ? `is ${found}` : "is missing", expected };
    });
}

/**
 * Checks that the columns, triggers and functions of the schema are what they were when they were made,
 * that nobody has added a trigger, and that every row obeys its constraints. The server itself checks
 * its pages.
 */
export async function checkStructure(session: Session): Promise<readonly Fault[]> {
  const { query } = session;
  const present = new Map(
    (await query(presentTriggers, [tableNames])) as readonly [string, string][],
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
  const altered = await checkColumns(session);
  // A constraint may name a column that is missing.
  if (altered.length > 0) return [...altered, ...faults];
  return [...faults, ...(await runScript(query, checkConstraints(schema)))];
}
