import type { Batches, Imported, TakeDifferences } from "../../domain/catalogue/import-preview.ts";
import type { Problems } from "../../domain/catalogue/import-problems.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import {
  checkStaged,
  findProblems,
  repeatedValues,
  type Staging,
  takeDifferences,
} from "../staged-rows.ts";
import { readBatches } from "./engine/batches.ts";
import { copyIn } from "./engine/copy.ts";
import { runScript } from "./engine/scripts.ts";
import type { Session } from "./engine/session.ts";
import { begin, waitForDisk } from "./engine/transaction.ts";

/**
 * Begins the transaction of an import, stages its rows, and adds a problem for every repeated value. Returns
 * the number of rows. The temporary table blocks no other transaction, and is dropped at the end.
 */
export async function stageRows<T>(
  session: Session,
  staging: Staging<T>,
  records: Batches<T>,
  problems: Problems,
): Promise<number> {
  const { table, id, idField, columns, values, ownChecks } = staging;
  const { sql, query } = session;
  await beginImport(session);
  await sql.unsafe(`CREATE TEMP TABLE ${table} (${id} int8, ${columns}) ON COMMIT DROP`);
  const staged = await copyIn(session, table, records, values);
  await sql.unsafe(`ANALYZE ${table}`);
  await runScript(
    query,
    findProblems([repeatedValues(table, id, idField), ...ownChecks], problems),
  );
  return staged;
}

async function beginImport({ query }: Session): Promise<void> {
  await query(begin);
  const [row] = await query(
    `SELECT has_database_privilege(current_database(), 'TEMPORARY'), ${waitForDisk}`,
  );
  if (row?.[0] === true) return;
  throw new ServiceError("unavailable", "the role needs TEMPORARY on the database for an import");
}

/** Previews an import on a session of its own. When the session ends, the transaction is rolled back. */
export async function previewImport<T>(
  session: Session,
  staging: Staging<T>,
  records: Batches<T>,
  problems: Problems,
  take: TakeDifferences,
): Promise<Imported> {
  const staged = await stageRows(session, staging, records, problems);
  await runScript(session.query, checkStaged(staging, problems));
  const batches = readBatches(session, "differences", staging.different);
  return takeDifferences(staging, batches, staged, take);
}
