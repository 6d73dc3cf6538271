import type { Fault } from "../../domain/verification/store.ts";
import { checkConstraints, tablesIn } from "../constraints.ts";
import { compareDefinitions } from "../definitions.ts";
import { textArray } from "./engine/arrays.ts";
import { runScript } from "./engine/scripts.ts";
import type { Session } from "./engine/session.ts";
import { schema } from "./schema.ts";

const tables = tablesIn(schema);

/** Keys are never null. */
const columns = tables.flatMap(([table, body]) =>
  [...body.matchAll(/(\w+)\s+(int\d|text|bytea)\b([^,\n]*)/g)].map(([, name, type, rest]) => {
    const isKey = body.split("PRIMARY KEY (")[1]?.split(")")[0]?.split(", ").includes(name!);
    const isNeeded = isKey || /NOT NULL|PRIMARY KEY/.test(rest!);
    return [`column ${table}.${name}`, `${type}${isNeeded ? " NOT NULL" : ""}`] as const;
  }),
);

/** The schema writes triggers as PostgreSQL shows them. */
const triggers = [...schema.matchAll(/CREATE TRIGGER (\w+) ([^;]+);/g)].map(
  ([, name, definition]) => [`trigger ${name}`, collapsed(definition!)] as const,
);

const madeFunction = /CREATE (?:FUNCTION|PROCEDURE) (petstore_\w+)\([\s\S]*?AS \$\$([\s\S]*?)\$\$/g;

const functions = [...schema.matchAll(madeFunction)].map(
  ([, name, body]) => [`function ${name}`, collapsed(body!)] as const,
);

const expected = new Map([...columns, ...triggers, ...functions]);

/** $1 has the names of all tables. */
const readPresent = `
  SELECT 'column ' || name || '.' || attname,
    typname || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END
  FROM unnest($1::text[]) AS ours(name)
    JOIN pg_attribute ON attrelid = to_regclass(name) JOIN pg_type ON pg_type.oid = atttypid
  WHERE attnum > 0
  UNION ALL
  SELECT 'trigger ' || tgname, CASE WHEN tgenabled IN ('O', 'A')
    THEN regexp_replace(pg_get_triggerdef(oid, true), '^CREATE TRIGGER \\S+ ', '') ELSE 'disabled' END
  FROM pg_trigger
  WHERE NOT tgisinternal AND tgrelid IN (SELECT to_regclass(name) FROM unnest($1::text[]) AS ours(name))
  UNION ALL
  SELECT 'function ' || proname, prosrc FROM pg_proc WHERE oid = to_regproc(proname)
    AND proname LIKE 'petstore\\_%'`;

/** One line without comments. */
function collapsed(definition: string): string {
  return definition.replaceAll(/--.*/g, "").replaceAll(/\s+/g, " ");
}

/**
 * Checks that the columns, triggers and functions are those of the schema, that nobody has added a trigger,
 * and that every row obeys its constraints. The server itself checks its pages.
 */
export async function checkStructure({ query }: Session): Promise<readonly Fault[]> {
  const rows = await query(readPresent, [textArray(tables.map(([name]) => name))]);
  const present = new Map(
    rows.map(([where, definition]) => [where as string, collapsed(definition as string)]),
  );
  const altered = compareDefinitions(expected, present);
  // A constraint may name a column that is missing.
  return altered.length > 0 ? altered : runScript(query, checkConstraints(schema));
}
