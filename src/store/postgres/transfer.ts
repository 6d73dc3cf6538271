import type { Environment } from "../../domain/keys/keys.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { RowsOf, Snapshot } from "../../domain/verification/store.ts";
import type { Value } from "../rows.ts";
import { anyRow, selectAll, tables } from "../tables.ts";
import { createCatalogueReader } from "./catalogue.ts";
import { createCheckpointReader } from "./checkpoints.ts";
import { createTables, readNumber } from "./creation.ts";
import { readBatches } from "./engine/batches.ts";
import { copyIn } from "./engine/copy.ts";
import { moveTip, takeHead } from "./engine/head-lock.ts";
import type { PrimaryGuard } from "./engine/primary.ts";
import { dialect } from "./engine/scripts.ts";
import type { Session } from "./engine/session.ts";
import { begin, commitTransaction } from "./engine/transaction.ts";
import type { Epochs } from "./epochs.ts";
import { createHistoryReader } from "./history.ts";
import { createInventoryReader } from "./inventory.ts";
import { checkStructure } from "./structure.ts";

/** Tables that have another name here than in SQLite. */
const names: Readonly<Record<string, string>> = { usage: "counts", head: "store" };
const storedIn = (name: string) => names[name] ?? name;

/** Reads a whole store. The session must be in a transaction that sees one state of it. */
export function createSnapshot(session: Session, epochs: Epochs, guard: PrimaryGuard): Snapshot {
  const { query } = session;
  return {
    ...createInventoryReader(epochs, guard, query, query),
    ...createHistoryReader(guard, query, query),
    ...createCatalogueReader(query, query),
    ...createCheckpointReader(guard, query),
    rowsOf: rowsFrom(session),
    checkStructure: () => checkStructure(session),
  };
}

/** Reads whole tables. The session must be in a transaction that sees one state of the store. */
export function rowsFrom(session: Session): RowsOf {
  return (name) => readBatches(session, `${name}_rows`, selectAll(name, storedIn(name)));
}

/** Copies the bans in force to `standings`, where the rate limiter reads them. */
const bansInForce = `
  INSERT INTO standings (key_id, ban_started_at, banned_until)
  SELECT key_id, started_at, until
  FROM (SELECT DISTINCT ON (key_id) * FROM bans ORDER BY key_id, started_at DESC) AS latest
  WHERE lifted_at IS NULL
  ON CONFLICT (key_id) DO UPDATE
    SET ban_started_at = excluded.ban_started_at, banned_until = excluded.banned_until`;

/** Entries that are added later have higher numbers than those that were copied, and no earlier times. */
const continueAudit = `UPDATE audit_end SET seq = last.seq, at = last.at
  FROM (SELECT seq, at FROM audit ORDER BY seq DESC LIMIT 1) AS last`;

const lastRow = "SELECT seq, at, encode(hash, 'hex') FROM ledger ORDER BY seq DESC LIMIT 1";

/**
 * Copies every row of another store, all or none. Creates the tables in the same transaction, if they are
 * missing: a copy that fails leaves no empty store, which would look like a new one. Returns whether it
 * did.
 */
export async function importTables(
  session: Session,
  rowsOf: RowsOf,
  environment: Environment,
): Promise<boolean> {
  const { sql, query } = session;
  await query(begin);
  const isCreated = (await readNumber(session)) === 0 && (await createTables(session, environment));
  const { seq } = await takeHead(session, null);
  // Reading the source may take longer than the timeout for groups of updates allows.
  await sql.unsafe("SET LOCAL idle_in_transaction_session_timeout = 0");
  const [present] = await query(anyRow);
  if (present?.[0]) throw new ServiceError("invalid_request", "the target is not empty");
  // An empty store has epochs only as copies from another empty store. The epoch of this store is
  // recorded by the next start or write, and starts after the last copied row.
  const [recorded] = await query("SELECT EXISTS (SELECT FROM epochs)");
  if (recorded?.[0]) await query("DELETE FROM epochs");
  for (const { name, columns } of tables) {
    const target = `${storedIn(name)} (${columns})`;
    await copyIn(session, target, rowsOf(name), (row) => row as Value[]);
  }
  await sql.unsafe(bansInForce);
  await sql.unsafe(continueAudit);
  const [end] = await query(lastRow);
  if (end) await query(moveTip, [seq, ...end]);
  await query(dialect.touchKeys);
  await commitTransaction(sql);
  await sql.unsafe("ANALYZE");
  return isCreated;
}
