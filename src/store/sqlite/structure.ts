import { Database, SQLiteError } from "bun:sqlite";
import type { Fault } from "../../domain/verification/store.ts";
import { checkConstraints } from "../constraints.ts";
import { compareDefinitions } from "../definitions.ts";
import { createRunner } from "./engine/scripts.ts";
import { schema } from "./schema.ts";

const messagesMax = 20;

/** Checks the file: its pages, its schema, and the constraints of its rows. */
export function checkStructure(database: Database): readonly Fault[] {
  const damage = checkPages(database);
  const altered = checkSchema(database);
  // Reading damaged pages may throw, and a constraint may name a column that is missing.
  if (damage.length > 0 || altered.length > 0) return [...altered, ...damage];
  return createRunner(database)(checkConstraints(schema));
}

/** SQLite reads every page and checks the type of every value. */
function checkPages(database: Database): Fault[] {
  const messages: string[] = [];
  try {
    const rows = database.query(`PRAGMA quick_check(${messagesMax})`).iterate();
    for (const row of rows) messages.push(...Object.values(row as Record<string, string>));
  } catch (error) {
    // The check stops at a page that it cannot parse.
    if (!isCorrupt(error)) throw error;
    messages.push(error.message);
  }
  return messages
    .flatMap((message) => message.split("\n"))
    .filter((line) => line !== "ok" && !line.startsWith("***"))
    .map((found) => ({ where: "the file", found, expected: "no damage" }));
}

function isCorrupt(error: unknown): error is SQLiteError {
  const corrupt = 11;
  return error instanceof SQLiteError && (error.errno & 0xff) === corrupt;
}

/** Compares tables, triggers and views with those of a new store. */
function checkSchema(database: Database): Fault[] {
  using model = new Database(":memory:", { safeIntegers: true });
  model.run(schema);
  return compareDefinitions(definitionsIn(model), definitionsIn(database));
}

function definitionsIn(database: Database): Map<string, string> {
  const rows = database
    .query("SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    .values();
  return new Map(rows as [string, string][]);
}
