import type { ReservedSQL } from "bun";
import { unavailable } from "../../../domain/running/errors.ts";
import { isAfterFailure, isConflict, isUnconfirmed, UnknownOutcome } from "./failures.ts";
import type { Rows, Session } from "./session.ts";

/**
 * Begins a transaction that writes. It sets the isolation level, because the server or the role may
 * have another default, under which statements do not see what was committed while they waited for a
 * lock.
 */
export const begin = "BEGIN ISOLATION LEVEL READ COMMITTED";

/** Begins a transaction in which the database rejects every write to the store. */
export const beginReading = `${begin} READ ONLY`;

/**
 * Makes the commit of the current transaction wait for the disk, also where the server or the role
 * has turned that off. Every other setting waits for the disk already and stays: `remote_apply` is
 * stricter, and `local` and `remote_write` are choices about standbys.
 */
export const waitForDisk = `set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
      ELSE current_setting('synchronous_commit') END, true)`;

/**
 * Throws unless the transaction was committed. COMMIT of a failed transaction succeeds as a
 * ROLLBACK, and only its command tag shows that.
 */
export function assertCommitted(ended: unknown): void {
  if ((ended as { command?: string }).command !== "COMMIT") throw unavailable("rolledBack");
}

/** Commits the current transaction. If the connection is lost meanwhile, the outcome is unknown. */
export async function commitTransaction(sql: ReservedSQL): Promise<void> {
  assertCommitted(await confirmed(sql`COMMIT`));
}

/**
 * The results of statements that were sent together. If one fails, those after it fail too, and their
 * failures may be seen first. Throws the one that explains the others.
 */
export async function together<T extends readonly unknown[]>(statements: T) {
  try {
    return await Promise.all(statements);
  } catch (error) {
    if (!isAfterFailure(error)) throw error;
    const settled = await Promise.allSettled(statements);
    const failures = settled.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    throw failures.find((one) => !isAfterFailure(one)) ?? error;
  }
}

/** The result of statements that end with a commit. */
export async function confirmed<T>(committing: Promise<T>): Promise<T> {
  try {
    return await committing;
  } catch (error) {
    throw isUnconfirmed(error) ? new UnknownOutcome(error) : error;
  }
}

/** How often a statement is sent, in total, if it conflicts with another transaction each time. */
const attemptsMax = 4;

/**
 * Runs one statement in its own transaction, at READ COMMITTED. A statement that conflicted with
 * another transaction was rolled back, so it is sent again.
 */
export async function runStatement(
  session: Session,
  isReadOnly: boolean,
  text: string,
  values?: readonly unknown[],
): Promise<Rows> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await runOnce(session, isReadOnly, text, values);
    } catch (error) {
      if (!isConflict(error) || attempt === attemptsMax) throw error;
    }
  }
}

/**
 * Sends the statement without BEGIN where the default is READ COMMITTED, as nearly everywhere. A
 * setting of the session would be cheaper elsewhere, but a pooler shares the session with others.
 */
async function runOnce(
  { sql, query, isReadCommitted }: Session,
  isReadOnly: boolean,
  text: string,
  values?: readonly unknown[],
): Promise<Rows> {
  if (isReadCommitted && !isReadOnly) return query(text, values);
  const first = query(isReadOnly ? beginReading : begin);
  const [, rows, ended] = await Promise.all([first, query(text, values), sql`COMMIT`]);
  assertCommitted(ended);
  return rows;
}

/**
 * Makes a transaction wait for the disk, and limits how long each of its further statements waits for an
 * import, which holds locks while it writes. Not `lock_timeout`: a statement that queues behind others waits
 * for two locks, one after the other, and each would have the whole time.
 */
export const limitWait = `SELECT ${waitForDisk}, set_config('statement_timeout', '5000', true)`;
