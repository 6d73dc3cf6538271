import { SQL } from "bun";

let databasesMade = 0;

/** More than the tests of one file use without a connection to them. */
const databasesKept = 20;

/**
 * Creates a database on the server with these addresses and returns its address. `made` has the names
 * of the databases that may be dropped, the oldest first.
 */
export async function createDatabase(
  url: (database?: string) => string,
  made: Set<string>,
  template = "template1",
): Promise<string> {
  // Other processes may use the same server.
  const name = `fresh_${process.pid}_${++databasesMade}`;
  // A template stays, because more copies may follow.
  made.delete(template);
  await using sql = new SQL(url(), { max: 1 });
  // The default strategy writes every page to the log and takes twice the time.
  await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  made.add(name);
  if (made.size > databasesKept) await dropOldest(sql, made);
  return url(name);
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
