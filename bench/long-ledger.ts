// Fills the ledger of a store with millions of rows, by SQL. Updates through the API would take
// minutes. The rows have no valid hashes.
import { Database } from "bun:sqlite";

export interface Folded {
  ms: number;
  entries: number;
  /** The sum of all quantities. */
  total: number;
}

/** A connection to the database of a service, for what the service has no operation for. */
export interface LedgerDatabase {
  /** Adds updates of random pets up to this number of rows in all. */
  fill(rows: number, entries: number): Promise<void>;
  /** Complete checkpoints: the last row of each, and the bytes of all. */
  checkpoints(): Promise<{ seqs: number[]; bytes: number }>;
  /** Computes the inventory as of a row by one query over the ledger. */
  fold(seq: number): Promise<Folded>;
  close(): Promise<void>;
}

const columns = `seq, pet_id, quantity_before, quantity_after, status_before, status_after, previous,
  cause, key_id, request_id, reason, at, hash`;

/** A row for each n from 1, with a random pet and quantity. `key` and `at` come from the store. */
const rowOf = (entries: number, random: (below: number) => string, hash: string) => `
  SELECT ${entries} + n, 1 + ${random(entries)}, 1000, 1000 + ${random(9000)}, 'available',
    'available', NULL, 'api', key, 'req_0123456789ab_' || n, NULL, at + n / 1000, ${hash}`;

const listCheckpoints = "SELECT seq FROM checkpoints ORDER BY seq";
const sizeOfCheckpoints = "SELECT coalesce(sum(length(data)), 0) FROM checkpoint_parts";

const foldedSums = "SELECT count(*), sum(quantity_after)";

function toFolded([entries, total]: readonly unknown[], startedAt: number): Folded {
  return { ms: performance.now() - startedAt, entries: Number(entries), total: Number(total) };
}

export function openLedgerDatabase(address: string): LedgerDatabase {
  return address.startsWith("sqlite:")
    ? openSqlite(address.slice("sqlite:".length))
    : openPostgres(address);
}

function openSqlite(path: string): LedgerDatabase {
  const open = () => new Database(path, { strict: true });
  return {
    async fill(rows, entries) {
      using database = open();
      // Not durable, but without a log of two gigabytes.
      for (const pragma of ["journal_mode = OFF", "synchronous = OFF"]) {
        database.run(`PRAGMA ${pragma}`);
      }
      database.run("BEGIN");
      database.run(`
        WITH RECURSIVE numbers(n) AS (
          SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${rows - entries})
        INSERT INTO ledger (${columns})
        ${rowOf(entries, (below) => `abs(random() % ${below})`, "zeroblob(32)")}
        FROM numbers, (SELECT at FROM head), (SELECT id AS key FROM keys LIMIT 1)`);
      // A trigger refuses rows that leave the hash as it was.
      database.run(`UPDATE head SET seq = ${rows}, at = (SELECT max(at) FROM ledger),
        hash = '${"0".repeat(64)}'`);
      database.run("COMMIT");
    },
    async checkpoints() {
      using database = open();
      const seqs = database.query(listCheckpoints).values().flat().map(Number);
      return { seqs, bytes: Number(database.query(sizeOfCheckpoints).values()[0]![0]) };
    },
    async fold(seq) {
      using database = open();
      const startedAt = performance.now();
      // SQLite takes the other columns from the row with the maximum.
      const query = `SELECT pet_id, quantity_after, status_after, max(seq) FROM ledger
        WHERE seq <= ${seq} GROUP BY pet_id ORDER BY pet_id`;
      const [row] = database.query(`${foldedSums} FROM (${query})`).values();
      return toFolded(row!, startedAt);
    },
    close: async () => {},
  };
}

function openPostgres(address: string): LedgerDatabase {
  const sql = new Bun.SQL(address, { max: 1 });
  return {
    async fill(rows, entries) {
      await sql.unsafe(`INSERT INTO ledger (${columns})
        ${rowOf(entries, (below) => `floor(random() * ${below})::int8`, "zero")}
        FROM generate_series(1::int8, ${rows - entries}) AS n,
          (SELECT at FROM ledger_end ORDER BY seq DESC LIMIT 1) AS head,
          (SELECT id AS key FROM keys LIMIT 1) AS key,
          (SELECT decode(repeat('00', 32), 'hex') AS zero) AS zeros`);
      await sql.unsafe(`UPDATE ledger_end SET seq = ${rows}, at = (SELECT max(at) FROM ledger)
        WHERE seq = (SELECT max(seq) FROM ledger_end)`);
      await sql.unsafe("VACUUM ANALYZE");
    },
    async checkpoints() {
      const [seqs, [size]] = [
        await sql.unsafe(listCheckpoints).values(),
        await sql.unsafe(sizeOfCheckpoints).values(),
      ];
      return { seqs: seqs.flat().map(Number), bytes: Number(size[0]) };
    },
    async fold(seq) {
      const startedAt = performance.now();
      const query = `SELECT pet_id, quantity_after, status_after FROM ledger
        JOIN (SELECT max(seq) AS seq FROM ledger WHERE seq <= ${seq} GROUP BY pet_id) AS last USING (seq)
        ORDER BY pet_id`;
      const [row] = await sql.unsafe(`${foldedSums} FROM (${query}) AS folded`).values();
      return toFolded(row, startedAt);
    },
    close: () => sql.close(),
  };
}
