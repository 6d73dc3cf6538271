// Fills a store with a long ledger and many idempotency keys, by SQL: through the service it would
// take hours. Nobody computed the hashes of the rows, so `petstore verify` rejects such a store.
import { Database } from "bun:sqlite";
import { randomFillSync } from "node:crypto";
import { quantityMax, quantityMin } from "./catalogue.ts";
import { openLedgerDatabase } from "./long-ledger.ts";

/** The pets of the catalogue. Every tenth row is a change to pet 1; the others are changed in turn. */
export const ledgerPets = 1000;
const cycleRows = 1110;
const quantities = quantityMax - quantityMin + 1;
const keysPerCommit = 64;
const recordBytes = 40;
/** Times never decrease. 10 million rows reach one second into the future, and take longer to add. */
const rowsPerMs = 10_000;

/** Runs statements that differ between the engines only in how they count and write bytes. */
interface Filler {
  /** A table expression with one column `n`, from `first` to `last`. */
  series(first: number, last: number): string;
  /** Bytes as a literal. */
  bytes(hex: string): string;
  run(statement: string): Promise<void>;
  /** Adds the keys of commits whose first row is `seq`, `seq + 64` and so on. */
  addKeys(seq: number, commits: number, at: number): Promise<void>;
  close(): Promise<void>;
}

const sliceRows = 500_000;
/** Stands for the hash of each row, which would take long to compute. */
const rowHash = "0".repeat(64);

/** Adds rows to a store that contains only the catalogue with `ledgerPets` pets. */
export async function fillLedger(address: string, rows: number): Promise<void> {
  const filler = openFiller(address);
  const firstAt = Date.now();
  for (let from = 0; from < rows; from += sliceRows) {
    const to = Math.min(rows, from + sliceRows);
    await filler.run(addRows(filler.series(from, to - 1), filler.bytes(rowHash), firstAt));
  }
  const tip = ledgerPets + rows;
  const tipAt = firstAt + Math.floor(rows / rowsPerMs);
  await filler.run(`UPDATE inventory SET quantity = ledger.quantity_after, version = last.seq
    FROM (SELECT pet_id, max(seq) AS seq FROM ledger WHERE seq > ${tip - cycleRows}
          GROUP BY pet_id) AS last, ledger
    WHERE last.pet_id = inventory.pet_id AND ledger.seq = last.seq`);
  const end = isPostgres(address) ? "ledger_end" : "head";
  await filler.run(
    `UPDATE ${end} SET seq = ${tip}, at = ${tipAt}, hash = '${rowHash}' WHERE seq = ${ledgerPets}`,
  );
  await filler.close();
}

/** Row n, counted from 0. The rows before it are those of the catalogue: pet p has row p. */
function addRows(series: string, hash: string, firstAt: number): string {
  const pet = `(CASE WHEN n % 10 = 0 THEN 1 ELSE 2 + (n / 10 * 9 + n % 10 - 1) % ${ledgerPets - 1} END)`;
  const distance = `(CASE WHEN n % 10 = 0 THEN 10 ELSE ${cycleRows} END)`;
  const status = "(CASE pet % 3 WHEN 1 THEN 'available' WHEN 2 THEN 'pending' ELSE 'sold' END)";
  const quantityAt = (seq: string) => `${quantityMin} + ${seq} % ${quantities}`;
  return `INSERT INTO ledger (seq, pet_id, quantity_before, quantity_after, status_before,
      status_after, previous, cause, key_id, request_id, reason, at, hash)
    SELECT seq, pet,
      CASE WHEN previous > ${ledgerPets} THEN ${quantityAt("previous")}
           ELSE ${quantityMin} + (pet - 1) * 7 % ${quantities} END,
      ${quantityAt("seq")}, ${status}, ${status}, previous, 'api', key_id,
      'req_' || (1000000000000000 + seq), NULL, ${firstAt} + n / ${rowsPerMs}, ${hash}
    FROM (SELECT n, seq, pet, CASE WHEN n < distance THEN pet ELSE seq - distance END AS previous
          FROM (SELECT n, n + ${ledgerPets} + 1 AS seq, ${pet} AS pet, ${distance} AS distance
                FROM ${series}) AS counted) AS linked,
         (SELECT id AS key_id FROM keys LIMIT 1) AS key`;
}

/** Adds `count` keys, 64 per commit, that belong to the first rows of `fillLedger`. */
export async function fillKeys(address: string, count: number, at: number): Promise<void> {
  const filler = openFiller(address);
  const commits = Math.floor(count / keysPerCommit);
  const commitsAtOnce = 10_000;
  for (let from = 0; from < commits; from += commitsAtOnce) {
    const seq = ledgerPets + 1 + from * keysPerCommit;
    await filler.addKeys(seq, Math.min(commitsAtOnce, commits - from), at);
  }
  await filler.close();
}

/** The least number of rows between two checkpoints of the service. */
const checkpointRowsMin = 50_000;

/**
 * Waits until the service has added the checkpoints of a catalogue and this number of rows after it.
 * It begins seconds after its start, and would take part in the measurement.
 */
export async function untilCheckpoints(
  address: string,
  rows: number,
  entries = ledgerPets,
): Promise<void> {
  const ledger = openLedgerDatabase(address);
  const isDue = async () => {
    const { seqs } = await ledger.checkpoints();
    const last = seqs.at(-1) ?? 0;
    // The distance is half the entries of the last checkpoint. Each of the first rows adds an entry.
    const distance = Math.max(checkpointRowsMin, Math.min(last, entries) / 2);
    return last + distance <= entries + rows;
  };
  while (await isDue()) await Bun.sleep(200);
  await ledger.close();
}

/** The `seq` of the oldest commit that has keys; undefined if no keys are left. */
export async function oldestKeys(address: string): Promise<number | undefined> {
  const query = "SELECT seq FROM remembered_keys ORDER BY seq LIMIT 1";
  if (isPostgres(address)) {
    await using sql = new Bun.SQL(address, { max: 1 });
    const [row] = await sql.unsafe(query).values();
    return row && Number(row[0]);
  }
  using database = new Database(pathOf(address), { readonly: true });
  const [row] = database.query(query).values();
  return row && Number(row[0]);
}

function openFiller(address: string): Filler {
  return isPostgres(address) ? openPostgresFiller(address) : openSqliteFiller(pathOf(address));
}

function openSqliteFiller(path: string): Filler {
  const database = new Database(path);
  database.run("PRAGMA synchronous = OFF");
  const addKeys = database.query("INSERT INTO remembered_keys (seq, at, records) VALUES (?, ?, ?)");
  const records = Buffer.alloc(keysPerCommit * recordBytes);
  return {
    series: (first, last) =>
      `(WITH RECURSIVE numbers(n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers
        WHERE n < ${last}) SELECT n FROM numbers)`,
    bytes: (hex) => `x'${hex}'`,
    run: async (statement) => void database.run(statement),
    addKeys: async (seq, commits, at) =>
      database.transaction(() => {
        for (let commit = 0; commit < commits; commit++) {
          randomFillSync(records);
          for (let key = 0; key < keysPerCommit; key++) {
            records.writeUInt32BE(key, key * recordBytes + 32);
            records.writeUInt32BE(1, key * recordBytes + 36);
          }
          addKeys.run(seq + commit * keysPerCommit, at, records);
        }
      })(),
    async close() {
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
      database.close();
    },
  };
}

function openPostgresFiller(address: string): Filler {
  const sql = new Bun.SQL(address, { max: 1 });
  const run = async (statement: string) => void (await sql.unsafe(statement));
  return {
    series: (first, last) => `generate_series(${first}, ${last}) AS numbers(n)`,
    bytes: (hex) => `'\\x${hex}'::bytea`,
    run,
    addKeys: (seq, commits, at) =>
      run(`INSERT INTO remembered_keys (seq, at, records)
        SELECT ${seq} + commit * ${keysPerCommit}, ${at},
          string_agg(sha256(int8send(${seq} + commit * ${keysPerCommit} + key)) ||
            int4send(key) || int4send(1), ''::bytea ORDER BY key)
        FROM generate_series(0, ${commits - 1}) AS commit,
             generate_series(0, ${keysPerCommit - 1}) AS key GROUP BY commit ORDER BY commit`),
    async close() {
      await sql.close();
      await settlePostgres(address);
    },
  };
}

/** Does now what the server would otherwise do during the measurement. */
export async function settlePostgres(address: string): Promise<void> {
  await using sql = new Bun.SQL(address, { max: 1 });
  await sql.unsafe("VACUUM ANALYZE");
  await sql.unsafe("CHECKPOINT");
}

function isPostgres(address: string): boolean {
  return address.startsWith("postgres");
}

export function pathOf(address: string): string {
  return address.replace(/^sqlite:/, "");
}
