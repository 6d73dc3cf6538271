import type { SQL } from "bun";

let databasesMade = 0;

/** More than the tests of one file use without a connection to them. */
const databasesKept = 20;

/**
 * Creates a database with a unique name, and returns the name. `made` has the names of the databases that
 * may be dropped, the oldest first.
 */
export async function createDatabase(
  sql: SQL,
  made: Set<string>,
  template = "template1",
): Promise<string> {
  // Other processes may use the same server.
  const name = `fresh_${process.pid}_${++databasesMade}`;
  // A template stays, because more copies may follow.
  made.delete(template);
  // The default strategy writes every page to the log and takes twice the time.
  await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  made.add(name);
  if (made.size > databasesKept) await dropOldest(sql, made);
  return name;
}

/** Drops the oldest database that nothing is connected to. Hundreds would fill the memory. */
async function dropOldest(sql: SQL, made: Set<string>): Promise<void> {
  const connected = await sql`SELECT datname FROM pg_stat_activity`.values();
  const inUse = new Set(connected.flat());
  for (const name of made) {
    if (inUse.has(name)) continue;
    made.delete(name);
    await sql.unsafe(`DROP DATABASE ${name}`);
    return;
  }
}
