import { withDatabase } from "./recording.ts";

/** A connection on which an instance has committed updates, as the database server sees it. */
export interface CommitConnection {
  /** The process of the server that works for it. */
  readonly pid: number;
  /** The port of the client, or of the proxy in between. */
  readonly port: number;
}

/** The connections whose last statement was the commit of plain updates. */
export function findCommitConnections(databaseUrl: string): Promise<CommitConnection[]> {
  return withDatabase(databaseUrl, async (sql) => {
    const rows: [number, number][] = await sql`SELECT pid, client_port FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'CALL petstore_set_quantities%'
      ORDER BY query_start DESC`.values();
    return rows.map(([pid, port]) => ({ pid: Number(pid), port: Number(port) }));
  });
}

/** Whether the server still works for a connection. */
export function isConnected(databaseUrl: string, { pid }: CommitConnection): Promise<boolean> {
  return withDatabase(databaseUrl, async (sql) => {
    return (await sql`SELECT FROM pg_stat_activity WHERE pid = ${pid}`.values()).length > 0;
  });
}
