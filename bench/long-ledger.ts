// Fills the ledger of a store with millions of rows, by SQL. Updates through the API would take
// minutes. The rows have no valid hashes, and the inventory stays as it was imported.
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

/** Updates of random pets, in columns. */
interface Updates {
  seqs: number[];
  petIds: number[];
  before: number[];
  after: number[];
  statuses: string[];
  previous: number[];
}

const chunkRows = 50_000;
const statuses = ["available", "pending", "sold"];

/** Updates after the import of a catalogue. Each continues the row before it of the same pet. */
function* updatesOf(rows: number, entries: number): Generator<Updates> {
  const stock = Int32Array.from({ length: entries }, (_, index) => 1000 + ((index * 7) % 9000));
  const last = Int32Array.from({ length: entries }, (_, index) => index + 1);
  for (let from = entries; from < rows; from += chunkRows) {
    const chunk: Updates = {
      ...{ seqs: [], petIds: [], before: [], after: [], statuses: [], previous: [] },
    };
    for (let seq = from + 1; seq <= Math.min(rows, from + chunkRows); seq++) {
      const index = Math.floor(Math.random() * entries);
      chunk.seqs.push(seq);
      chunk.petIds.push(index + 1);
      chunk.before.push(stock[index]!);
      chunk.previous.push(last[index]!);
      chunk.statuses.push(statuses[index % 3]!);
      stock[index] = 1000 + Math.floor(Math.random() * 9000);
      last[index] = seq;
      chunk.after.push(stock[index]!);
    }
    yield chunk;
  }
}

const columns = `seq, pet_id, quantity_before, quantity_after, status_before, status_after, previous,
  cause, key_id, request_id, reason, at, hash`;

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
      const insert = database.query(`INSERT INTO ledger (${columns})
        SELECT ?1, ?2, ?3, ?4, ?5, ?5, ?6, 'api', (SELECT id FROM keys LIMIT 1),
          'req_0123456789ab_' || ?1, NULL, at, zeroblob(32) FROM head`);
      for (const { seqs, petIds, before, after, statuses, previous } of updatesOf(rows, entries)) {
        for (let at = 0; at < seqs.length; at++) {
          const stock = [before[at]!, after[at]!, statuses[at]!] as const;
          insert.run(seqs[at]!, petIds[at]!, ...stock, previous[at]!);
        }
      }
      database.run(`UPDATE head SET seq = ${rows}, at = (SELECT max(at) FROM ledger),
        hash = lower(hex(randomblob(32)))`);
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
      for (const { seqs, petIds, before, after, statuses, previous } of updatesOf(rows, entries)) {
        await sql.unsafe(
          `INSERT INTO ledger (${columns})
           SELECT seq, pet_id, before, after, status, status, previous, 'api',
             (SELECT id FROM keys LIMIT 1), 'req_0123456789ab_' || seq, NULL,
             (SELECT at FROM ledger_end ORDER BY seq DESC LIMIT 1), decode(repeat('00', 32), 'hex')
           FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::text[], $6::int8[])
             AS row(seq, pet_id, before, after, status, previous)`,
          [seqs, petIds, before, after, statuses, previous].map((values) => `{${values.join()}}`),
        );
      }
      await sql.unsafe(`UPDATE ledger_end SET seq = ${rows}, at = (SELECT max(at) FROM ledger),
        hash = repeat('00', 32)
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
