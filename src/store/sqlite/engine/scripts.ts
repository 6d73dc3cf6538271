import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";
import { auditColumns } from "../../audit.ts";
import type { Row } from "../../rows.ts";
import type { Blocking, Dialect, Script } from "../../statements.ts";
import { inTransaction, wrapMethods } from "./connection.ts";

export const dialect: Dialect = {
  // One transaction writes at a time.
  lockCatalogue: "SELECT 1",
  lockLedger: "SELECT 1",
  touchKeys: "UPDATE head SET keys_version = keys_version + 1",
  // Times never decrease, not even if the clock was set back.
  addEntry: `INSERT INTO audit (${auditColumns})
    VALUES (max($1, ifnull((SELECT at FROM audit ORDER BY seq DESC LIMIT 1), 0)), $2, $3, $4, $5, $6)`,
};

/** Returns a function that runs scripts on a connection. */
export function createRunner(database: Database): <T>(script: Script<T>) => T {
  const statements = new Map<string, Statement>();

  function read(text: string, values: readonly unknown[]): readonly Row[] {
    let statement = statements.get(text);
    if (!statement) {
      statement = database.query(text.replace(/\$(\d+)(::\w+)?/g, "?$1"));
      statements.set(text, statement);
    }
    return statement.values(...(values as SQLQueryBindings[]));
  }

  return (script) => {
    let step = script.next();
    while (!step.done) step = script.next(read(step.value.text, step.value.values));
    return step.value;
  };
}

/** The methods of scripts, on a connection. Every method returns a value, not a promise. */
export function scriptsOn<S extends object>(database: Database, scripts: S): Blocking<S> {
  const run = createRunner(database);
  const methods = Object.entries(scripts).map(([name, script]) => [
    name,
    (...args: unknown[]) => run(script(...args)),
  ]);
  return Object.fromEntries(methods);
}

/** The same, each as one write transaction. */
export function transactionsOn<S extends object>(database: Database, scripts: S): Blocking<S> {
  return wrapMethods(scriptsOn(database, scripts), (method) => inTransaction(database, method));
}
