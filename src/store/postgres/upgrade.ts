import type { Environment } from "../../domain/keys/keys.ts";
import type { UpgradeCheck, UpgradeTrial } from "../../domain/operations/upgrades.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import { verify } from "../../domain/verification/verify.ts";
import { madeByNewer, planOf, schemaOf } from "../schema-versions.ts";
import type { Database } from "./engine/database.ts";
import { describeFailure } from "./engine/failures.ts";
import type { Session } from "./engine/session.ts";
import { createEpochs } from "./epochs.ts";
import { applySteps, checkEnvironment, readVersion, versionTable } from "./schema/migrations.ts";
import { steps } from "./schema/steps.ts";
import { noStore } from "./store.ts";
import { createSnapshot } from "./transfer.ts";

/** Tells what a start would migrate in a database. The caller closes the database. */
export async function checkPostgresUpgrade(
  database: Database,
  environment: Environment,
): Promise<UpgradeCheck> {
  return onSession(database, async (session) => {
    const { version, fits } = await readVersion(session);
    if (version === 0) throw noStore(database);
    if (fits > steps.length) throw madeByNewer(steps, version);
    // 0.1.0 has the environment in another table.
    if (version > 1) await checkEnvironment(session, environment);
    return {
      plan: planOf(steps, version, ({ fits }) => schemaOf(steps, fits).release),
      tryOnCopy: () => onSession(database, (own) => tryOnCopy(database, own, version)),
    };
  });
}

async function onSession<T>(
  database: Database,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  let session: Session | undefined;
  try {
    session = await database.connect();
    return await work(session);
  } catch (error) {
    if (error instanceof ServiceError && error.code !== "unavailable") throw error;
    const reason = describeFailure(error);
    throw new ServiceError("unavailable", `the database at ${database.label}: ${reason}`);
  } finally {
    // Rolls back what is open.
    session?.close();
  }
}

/** A schema of its own for the copy. It never exists outside the transaction that is rolled back. */
const scratch = "petstore_upgrade_check";

/**
 * Copies the store to a scratch schema, migrates and verifies the copy, and rolls everything back. The
 * tables, functions and triggers of the steps have no schema in their names, so they find each other
 * by the search path. The store is only read, in one snapshot, like by pg_dump: nothing waits for it
 * apart from another migration.
 */
async function tryOnCopy(
  { guard }: Database,
  session: Session,
  version: number,
): Promise<UpgradeTrial> {
  const { sql, query } = session;
  const startedAt = performance.now();
  await sql`BEGIN ISOLATION LEVEL REPEATABLE READ`;
  await assertMayCreate(session);
  const live = await findLiveTables(session);
  await sql.unsafe(`SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL jit = off;
    CREATE SCHEMA ${scratch}; SET LOCAL search_path = ${scratch}`);
  await sql.unsafe(versionTable);
  await applySteps(session, 0, version);
  await copyTables(session, live);
  const copiedAt = performance.now();
  await applySteps(session, version, steps.length);
  const migratedAt = performance.now();
  const found = await verify(createSnapshot(session, createEpochs(session.server), guard));
  const verifiedAt = performance.now();
  await query("ROLLBACK");
  return {
    copyMs: copiedAt - startedAt,
    migrateMs: migratedAt - copiedAt,
    verifyMs: verifiedAt - migratedAt,
    rows: found.rows,
    faults: found.faults,
    faultCount: found.faultCount,
  };
}

/** The schema of the version table is where a start applies the steps. */
async function assertMayCreate({ query }: Session): Promise<void> {
  const [row] = await query(`SELECT current_user::text, current_schema()::text,
    has_schema_privilege(current_schema(), 'CREATE'),
    has_database_privilege(current_database(), 'CREATE')`);
  const [role, schema, mayMigrate, mayTry] = row!;
  if (!mayMigrate) {
    const needed = `a start cannot migrate: the role ${role} needs CREATE on the schema ${schema}`;
    throw new ServiceError("unavailable", `${needed}; run this command as the owner of the tables`);
  }
  if (!mayTry) {
    const needed = `the role ${role} needs CREATE on the database to try the migration on a copy`;
    throw new ServiceError("unavailable", `${needed}; run this command as an administrator`);
  }
}

/** The full name of every table on the search path, by its name. */
async function findLiveTables({ query }: Session): Promise<Map<string, string>> {
  const rows = await query(`SELECT relname::text,
      quote_ident(relnamespace::regnamespace::text) || '.' || quote_ident(relname)
    FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid)
      AND relnamespace <> 'pg_catalog'::regnamespace`);
  return new Map(rows.map(([name, full]) => [String(name), String(full)]));
}

/** Replaces what the steps have put into the tables of the scratch schema by the rows of the store. */
async function copyTables({ sql, query }: Session, live: Map<string, string>): Promise<void> {
  // Tables that refer to others come last.
  const tables = await query(`SELECT relname::text,
      (SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
       WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped)
    FROM pg_class WHERE relnamespace = '${scratch}'::regnamespace AND relkind = 'r'
    ORDER BY EXISTS (SELECT FROM pg_constraint WHERE conrelid = pg_class.oid AND contype = 'f')`);
  const names = tables.map(([name]) => name);
  for (const name of names) await sql.unsafe(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
  await sql.unsafe(`TRUNCATE ${names.join(", ")}`);
  for (const [name, columns] of tables) {
    const source = live.get(String(name));
    if (!source) throw new ServiceError("unavailable", `the store has no table ${name}`);
    await sql.unsafe(`INSERT INTO ${name} (${columns}) SELECT ${columns} FROM ${source}`);
  }
  for (const name of names) await sql.unsafe(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
}
