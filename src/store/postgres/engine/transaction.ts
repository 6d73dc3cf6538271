import { Refusal } from "../../../domain/errors.ts";
import { isConflict } from "./failures.ts";
import type { Rows, Session } from "./session.ts";

/**
 * Begins a transaction that writes. It names its isolation level, because the server or the role
 * may have another default, under which statements do not see what was committed while they waited
 * for a lock.
 */
export const begin = "BEGIN ISOLATION LEVEL READ COMMITTED";

/**
 * Makes the commit of the current transaction wait for the disk, also where the server or the role
 * has turned that off. Every other setting waits for the disk already and stays: `remote_apply` asks
 * for more, and `local` and `remote_write` are choices about standbys.
 */
export const waitForDisk = `set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
      ELSE current_setting('synchronous_commit') END, true)`;

/** COMMIT of a transaction that had failed succeeds, as a ROLLBACK; only its tag tells. */
export function assertCommitted(ended: unknown): void {
  if ((ended as { command?: string }).command !== "COMMIT") {
    throw new Refusal("unavailable", "The store did not take the update; try again.");
  }
}

/** How often a statement is sent in all when it runs into another transaction each time. */
const attemptsMax = 4;

/**
 * Runs one statement as a transaction of its own, at READ COMMITTED. A statement that ran into
 * another transaction was rolled back, so it is sent again.
 */
export async function runAlone(
  session: Session,
  text: string,
  values?: readonly unknown[],
): Promise<Rows> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(session, text, values);
    } catch (error) {
      if (!isConflict(error) || attempt === attemptsMax) throw error;
    }
  }
}

/**
 * Where the default is READ COMMITTED, as nearly everywhere, the statement travels by itself. A
 * setting of the session would be cheaper elsewhere, but a pooler gives the session to others.
 */
async function runOnce(
  { sql, query, isReadCommitted }: Session,
  text: string,
  values?: readonly unknown[],
): Promise<Rows> {
  if (isReadCommitted) return query(text, values);
  const [, rows, ended] = await Promise.all([query(begin), query(text, values), sql`COMMIT`]);
  assertCommitted(ended);
  return rows;
}
