import { auditColumns } from "../../audit.ts";
import type { Dialect, Promising, Script } from "../../statements.ts";
import type { Query, Session } from "./session.ts";

/** Runs work in one transaction on a session of its own. */
export type Transact = <T>(work: (query: Query, session: Session) => Promise<T>) => Promise<T>;

export const dialect: Dialect = {
  // The key of the lock is arbitrary, but no other application on the server may use it.
  lockCatalogue: "SELECT pg_advisory_xact_lock(7381003)",
  lockLedger: "SELECT 1 FROM store WHERE id = 1 FOR UPDATE",
  touchKeys: "UPDATE store SET keys_version = keys_version + 1 WHERE id = 1",
  // The row of `audit_end` is locked until the transaction ends, so numbers have no gaps, and times never
  // decrease: not even if the clock was set back, or if transactions commit in another order than they
  // read the clock.
  addEntry: `
    WITH numbered AS (UPDATE audit_end SET seq = seq + 1, at = greatest(at, $1::int8)
                      RETURNING seq, at)
    INSERT INTO audit (seq, ${auditColumns})
    SELECT seq, at, $2::text, $3::text, $4::text, $5::text, $6::text FROM numbered`,
};

/** The methods of scripts, each statement of which is its own transaction. */
export function scriptsOn<S extends object>(query: Query, scripts: S): Promising<S> {
  return methodsOf(scripts, (script) => runScript(query, script));
}

/** The same, each method as one transaction. */
export function transactionsOn<S extends object>(transact: Transact, scripts: S): Promising<S> {
  return methodsOf(scripts, (script) => transact((query) => runScript(query, script)));
}

function methodsOf<S extends object>(
  scripts: S,
  work: (script: Script<unknown>) => Promise<unknown>,
): Promising<S> {
  const methods = Object.entries(scripts).map(([name, script]) => [
    name,
    (...args: unknown[]) => work(script(...args)),
  ]);
  return Object.fromEntries(methods);
}

export async function runScript<T>(query: Query, script: Script<T>): Promise<T> {
  let step = script.next();
  while (!step.done) {
    const { text, values } = step.value;
    step = script.next(await query(text, values.length > 0 ? values : undefined));
  }
  return step.value;
}
