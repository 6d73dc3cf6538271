import { withDatabase } from "./recording.ts";

/**
 * Makes a database's time movable for every session: a function of the same name comes before the
 * real one on the search path. The service runs unchanged.
 */
export async function makeTimeMovable(databaseUrl: string): Promise<void> {
  const name = new URL(databaseUrl).pathname.slice(1);
  await withDatabase(databaseUrl, (sql) =>
    sql.unsafe(`
      CREATE SCHEMA moved;
      CREATE TABLE moved.clock (ahead interval NOT NULL);
      INSERT INTO moved.clock VALUES ('0');
      CREATE FUNCTION moved.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
        'SELECT pg_catalog.clock_timestamp() + (SELECT ahead FROM moved.clock)';
      ALTER DATABASE ${name} SET search_path = moved, pg_catalog, public;`),
  );
}

/** Moves the database's time to the next minute or day. Returns the window's end in Unix seconds. */
export function startNext(databaseUrl: string, window: "minute" | "day"): Promise<number> {
  const next = `date_trunc('${window}', clock_timestamp(), 'UTC') + interval '1 ${window}'`;
  return withDatabase(databaseUrl, async (sql) => {
    await sql.unsafe(`UPDATE moved.clock SET ahead = ahead + (${next} - clock_timestamp())`);
    const [row] = await sql.unsafe(`SELECT extract(epoch FROM ${next})::int4`).values();
    return row[0];
  });
}

/** Sets the database's clock forward or back, for example by "-9 days". */
export function jumpBy(databaseUrl: string, interval: string): Promise<unknown> {
  return withDatabase(
    databaseUrl,
    (sql) => sql`UPDATE moved.clock SET ahead = ahead + ${interval}::interval`,
  );
}
