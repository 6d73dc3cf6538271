// Fills the ledger of a store with millions of rows, by SQL. Updates through the API would take
// minutes. The rows have no valid hashes.
import { Database } from "bun:sqlite";

/** A connection to the database of a service, for what the service has no operation for. */
export interface LedgerDatabase {
  /** Adds updates up to this number of rows in all. Each pet is updated once in `entries` updates. */
  fill(rows: number, entries: number): Promise<void>;
  /** Complete checkpoints: the last row of each, and the bytes of all. */
  checkpoints(): Promise<{ seqs: number[]; bytes: number }>;
  /** The inventory as of a row without a checkpoint, by the engine alone. Returns milliseconds. */
  fold(seq: number): Promise<number>;
  close(): Promise<void>;
}

/** Quantities depend only on the row, so that a response can be checked. */
export function quantityAt(seq: number): number {
  return 1000 + (seq % 9000);
}

/** The last row of a pet up to a row, and 0 for its import. */
export function lastUpdate(petId: number, seq: number, entries: number): number {
  const first = firstUpdates(entries)[petId - 1]!;
  if (seq < entries + first) return 0;
  return entries + first + Math.floor((seq - entries - first) / entries) * entries;
}

const step = 7919;
const updatesOf = new Map<number, Int32Array>();

/** The number of the first update of each pet, from 1. */
function firstUpdates(entries: number): Int32Array {
  let first = updatesOf.get(entries);
  if (!first) {
    first = new Int32Array(entries);
    for (let n = 1; n <= entries; n++) first[(n * step) % entries] = n;
    updatesOf.set(entries, first);
  }
  return first;
}

const columns = `seq, pet_id, quantity_before, quantity_after, status_before, status_after, previous,
  cause, key_id, request_id, reason, at, hash`;

/** A row for each n from 1. `status`, `key` and `at` come from the store. */
const rowOf = (entries: number, hash: string) => `
  SELECT ${entries} + n, pet,
    CASE WHEN n <= ${entries} THEN 1000 + ((pet - 1) * 7) % 9000 ELSE 1000 + n % 9000 END,
    1000 + (${entries} + n) % 9000, status, status,
    CASE WHEN n <= ${entries} THEN pet ELSE n END, 'api', key, 'req_0123456789ab_' || n, NULL,
    at + n / 1000, ${hash}
  FROM (SELECT n, 1 + (n * ${step}) % ${entries} AS pet, at, key,
          CASE (n * ${step}) % ${entries} % 3 WHEN 0 THEN 'available' WHEN 1 THEN 'pending'
            ELSE 'sold' END AS status`;

const moveEntries = (rows: number, entries: number) => `
  UPDATE inventory SET quantity = last.quantity_after, version = last.seq
  FROM (SELECT pet_id, quantity_after, seq FROM ledger WHERE seq > ${rows - entries}) AS last
  WHERE inventory.pet_id = last.pet_id`;

const listCheckpoints = "SELECT seq FROM checkpoints ORDER BY seq";
const sizeOfCheckpoints = "SELECT coalesce(sum(length(data)), 0) FROM checkpoint_parts";

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
        INSERT INTO ledger (${columns}) ${rowOf(entries, "zeroblob(32)")}
        FROM numbers, (SELECT at FROM head), (SELECT id AS key FROM keys LIMIT 1))`);
      database.run(moveEntries(rows, entries));
      database.run(`UPDATE head SET seq = ${rows}, at = (SELECT max(at) FROM ledger)`);
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
      database.query(`SELECT count(*), sum(quantity_after) FROM (${query})`).values();
      return performance.now() - startedAt;
    },
    close: async () => {},
  };
}

function openPostgres(address: string): LedgerDatabase {
  const sql = new Bun.SQL(address, { max: 1 });
  return {
    async fill(rows, entries) {
      await sql.unsafe(`INSERT INTO ledger (${columns}) ${rowOf(entries, "zero")}
        FROM generate_series(1::int8, ${rows - entries}) AS n,
          (SELECT at FROM ledger_end ORDER BY seq DESC LIMIT 1) AS head,
          (SELECT id AS key FROM keys LIMIT 1) AS key) AS numbered,
          (SELECT decode(repeat('00', 32), 'hex') AS zero) AS zeros`);
      await sql.unsafe(moveEntries(rows, entries));
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
      await sql.unsafe(`SELECT count(*), sum(quantity_after) FROM (${query}) AS folded`);
      return performance.now() - startedAt;
    },
    close: () => sql.close(),
  };
}
