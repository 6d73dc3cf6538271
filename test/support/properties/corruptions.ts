import { Database } from "bun:sqlite";
import { SQL } from "bun";

/** What differs between engines: the names of the head, the ledger's end and usage, and bytes. */
export interface TableNames {
  readonly head: string;
  readonly tip: string;
  readonly usage: string;
  /** Bytes as a literal. */
  bytes(hex: string): string;
}

/** A record of a remembered key: two digests, the distance of its first row, and its rows. */
const record = (distance: string, rows: string) => `${"ab".repeat(32)}${distance}${rows}`;

/**
 * Statements that damage a store without the service's knowledge. `n` is from 1 to 20, the rows of
 * the ledger; the pets are 1 to 4. Verification must find each of them.
 */
export const corruptions: Record<string, (n: number, names: TableNames) => string> = {
  "ledger: a quantity": (n) =>
    `UPDATE ledger SET quantity_after = quantity_after + 1 WHERE seq = ${n}`,
  "ledger: a quantity beyond exact numbers": (n) =>
    `UPDATE ledger SET quantity_after = 9007199254740993 WHERE seq = ${n}`,
  "ledger: a status": (n) =>
    `UPDATE ledger SET status_after = CASE status_after WHEN 'sold' THEN 'pending' ELSE 'sold' END
     WHERE seq = ${n}`,
  "ledger: an unknown status": (n) => `UPDATE ledger SET status_after = 'lost' WHERE seq = ${n}`,
  "ledger: a quantity without a status": (n) =>
    `UPDATE ledger SET status_after = NULL WHERE seq = ${n}`,
  "ledger: a status without a quantity": (n) =>
    `UPDATE ledger SET quantity_after = NULL WHERE seq = ${n}`,
  "ledger: a quantity before": (n) =>
    `UPDATE ledger SET quantity_before = coalesce(quantity_before, 0) + 7 WHERE seq = ${n}`,
  "ledger: the pet of a row": (n) => `UPDATE ledger SET pet_id = pet_id + 1000 WHERE seq = ${n}`,
  "ledger: a link": (n) =>
    `UPDATE ledger SET previous = CASE WHEN previous IS NULL THEN 0 ELSE NULL END WHERE seq = ${n}`,
  "ledger: a time": (n) =>
    `UPDATE ledger SET at = CASE WHEN seq = 1 THEN at + 1000000 ELSE 0 END WHERE seq = ${n}`,
  "ledger: a cause": (n) => `UPDATE ledger SET cause = 'chance' WHERE seq = ${n}`,
  "ledger: a key that does not exist": (n) =>
    `UPDATE ledger SET key_id = 'key_none' WHERE seq = ${n}`,
  "ledger: no key": () => "UPDATE ledger SET key_id = NULL WHERE cause = 'api'",
  "ledger: no request": () => "UPDATE ledger SET request_id = NULL WHERE seq = 19",
  "ledger: a row deleted": (n) => `DELETE FROM ledger WHERE seq = ${n}`,
  "ledger: the last row deleted": () => "DELETE FROM ledger WHERE seq = 20",
  "ledger: two rows exchanged": (n) =>
    `UPDATE ledger SET seq = -1 WHERE seq = ${n};
     UPDATE ledger SET seq = ${n} WHERE seq = 1 + ${n} % 20;
     UPDATE ledger SET seq = 1 + ${n} % 20 WHERE seq = -1`,
  "ledger: a row after a gap": (n, { tip }) =>
    `INSERT INTO ledger (seq, pet_id, quantity_before, quantity_after, status_before, status_after,
       previous, cause, key_id, request_id, reason, at, hash)
     SELECT seq + 2, pet_id, quantity_after, quantity_after, status_after, status_after, seq, cause,
       key_id, request_id, reason, at, hash FROM ledger WHERE seq = 20;
     UPDATE inventory SET version = 22 WHERE version = 20;
     UPDATE ${tip} SET seq = 20 + ${n} WHERE seq = 20`,
  "ledger: a time that is possible": (n) => `UPDATE ledger SET at = at + 1 WHERE seq = ${n}`,
  "ledger: a request": (n) => `UPDATE ledger SET request_id = 'req_x' WHERE seq = ${n}`,
  "ledger: a reason": (n) => `UPDATE ledger SET reason = 'other' WHERE seq = ${n}`,
  "ledger: a hash": (n, { bytes }) =>
    `UPDATE ledger SET hash = ${bytes("ab".repeat(32))} WHERE seq = ${n}`,
  "ledger: a short hash": (n, { bytes }) =>
    `UPDATE ledger SET hash = ${bytes("ab")} WHERE seq = ${n}`,
  "head: another hash": (_n, { tip }) =>
    `UPDATE ${tip} SET hash = '${"ab".repeat(32)}' WHERE seq = 20`,
  "keys: remembered with another time": (n) =>
    `UPDATE remembered_keys SET at = at + 1 WHERE seq = 5 + ${n} % 15`,
  "keys: remembered with a cut record": (n, { bytes }) =>
    `UPDATE remembered_keys SET records = ${bytes("ab")} WHERE seq = 5 + ${n} % 15`,
  "keys: remembered without a record": (n, { bytes }) =>
    `UPDATE remembered_keys SET records = ${bytes("")} WHERE seq = 5 + ${n} % 15`,
  "keys: remembered with rows of another commit": (n, { bytes }) =>
    `UPDATE remembered_keys SET records = ${bytes(record("00000000", "00000009"))}
     WHERE seq = 5 + ${n} % 15`,
  "keys: remembered with a later row": (n, { bytes }) =>
    `UPDATE remembered_keys SET records = ${bytes(record("00000009", "00000001"))}
     WHERE seq = 5 + ${n} % 15`,
  "keys: remembered without rows": (n, { bytes }) =>
    `UPDATE remembered_keys SET records = ${bytes(record("00000000", "00000000"))}
     WHERE seq = 5 + ${n} % 15`,
  "keys: remembered with the same row twice": (n, { bytes }) =>
    `UPDATE remembered_keys SET records = ${bytes(record("00000000", "00000001").repeat(2))}
     WHERE seq = 5 + ${n} % 15`,
  "keys: remembered after the ledger's end": (n) =>
    `UPDATE remembered_keys SET seq = 20 + ${n} WHERE seq = 5 + ${n} % 15`,
  "keys: remembered before the ledger's start": (n) =>
    `UPDATE remembered_keys SET seq = 0 WHERE seq = 5 + ${n} % 15`,
  "ledger: a pet removed that still has its entry": () =>
    `UPDATE ledger SET quantity_after = NULL, status_after = NULL WHERE seq = 20`,
  "ledger: wiped": () => "DELETE FROM ledger",
  "ledger and inventory: wiped": (_n, { tip }) =>
    `DELETE FROM ledger; DELETE FROM inventory; UPDATE ${tip} SET seq = 0, at = 0 WHERE seq = 20`,
  "head: ahead": (n, { tip }) => `UPDATE ${tip} SET seq = seq + ${n} WHERE seq = 20`,
  "head: behind": (_n, { tip }) => `UPDATE ${tip} SET seq = seq - 1 WHERE seq = 20`,
  "head: an unknown environment": (_n, { head }) => `UPDATE ${head} SET environment = 'moon'`,
  "head: without an epoch": (_n, { head }) => `UPDATE ${head} SET epoch = ''`,
  "head: a keys' version": (_n, { head }) => `UPDATE ${head} SET keys_version = -1`,
  "head: gone": (_n, { head }) => `DELETE FROM ${head}`,
  "epochs: one that begins after the ledger's end": (n) =>
    `INSERT INTO epochs (number, epoch, from_seq) VALUES (900, 'x', 20 + ${n})`,
  "epochs: two in the wrong order": (n) =>
    `INSERT INTO epochs (number, epoch, from_seq) VALUES (900, 'x', ${n}), (901, 'y', ${n} - 1)`,
  "epochs: an empty one": () => "INSERT INTO epochs (number, epoch, from_seq) VALUES (900, '', 20)",
  "epochs: one that begins before the ledger": (n) =>
    `INSERT INTO epochs (number, epoch, from_seq) VALUES (-1, 'x', -${n})`,
  "inventory: a quantity": (n) =>
    `UPDATE inventory SET quantity = quantity + 1 WHERE pet_id = 1 + ${n} % 4`,
  "inventory: a status": (n) =>
    `UPDATE inventory SET status = CASE status WHEN 'sold' THEN 'pending' ELSE 'sold' END
     WHERE pet_id = 1 + ${n} % 4`,
  "inventory: a version": (n) =>
    `UPDATE inventory SET version = version + 1 WHERE pet_id = 1 + ${n} % 4`,
  "inventory: an entry deleted": (n) => `DELETE FROM inventory WHERE pet_id = 1 + ${n} % 4`,
  "inventory: an entry without a row": (n) =>
    `INSERT INTO pets (pet_id, name, tags, photo_urls) VALUES (900, 'x', '[]', '[]');
     INSERT INTO inventory VALUES (900, 1, 'available', ${n})`,
  "inventory: an entry without a pet": (n) =>
    `INSERT INTO inventory VALUES (900, 1, 'available', ${n})`,
  "inventory: wiped": () => "DELETE FROM inventory",
  "pets: a pet without an entry": () =>
    "INSERT INTO pets (pet_id, name, tags, photo_urls) VALUES (900, 'x', '[]', '[]')",
  "pets: a pet deleted": (n) => `DELETE FROM pets WHERE pet_id = 1 + ${n} % 4`,
  "pets: a pet moved": (n) => `UPDATE pets SET pet_id = 900 WHERE pet_id = 1 + ${n} % 4`,
  "pets: a pet and its entry deleted": (n) =>
    `DELETE FROM inventory WHERE pet_id = 1 + ${n} % 4; DELETE FROM pets WHERE pet_id = 1 + ${n} % 4`,
  "pets: a name": (n) => `UPDATE pets SET name = '' WHERE pet_id = 1 + ${n} % 4`,
  "pets: photoUrls": (n) => `UPDATE pets SET photo_urls = '[${n}]' WHERE pet_id = 1 + ${n} % 4`,
  "pets: a threshold": (n) =>
    `UPDATE pets SET low_stock_at = 9007199254740991 + ${n} WHERE pet_id = 1`,
  "pets: tags": (n) => `UPDATE pets SET tags = 'none' WHERE pet_id = 1 + ${n} % 4`,
  "pets: wiped": () => "DELETE FROM pets",
  "orders: a quantity": () => "UPDATE orders SET quantity = -1",
  "orders: a quantity that is not exact": () => "UPDATE orders SET quantity = 9007199254740993",
  "orders: a date after all dates": () => "UPDATE orders SET ship_date = 8640000000000001",
  "orders: a status": () => "UPDATE orders SET status = 'lost'",
  "orders: complete": (n) => `UPDATE orders SET complete = ${n} + 1`,
  "keys: a plan": () => "UPDATE keys SET plan = 'gold'",
  "keys: a scope": () => "UPDATE keys SET scopes = 'inventory:read everything'",
  "keys: an end after all dates": () => "UPDATE keys SET expires_at = 9223372036854775807",
  "keys: a limit": (n) => `UPDATE keys SET per_minute = -${n}`,
  "keys: wiped": () => "DELETE FROM keys",
  "secrets: a digest": () => "UPDATE secrets SET digest = 'psk'",
  "secrets: of no key": () => "UPDATE secrets SET key_id = 'key_none'",
  "secrets: wiped": () => "DELETE FROM secrets",
  "usage: a count": (n, { usage }) => `UPDATE ${usage} SET minute_count = -${n}`,
  "usage: of no key": (_n, { usage }) => `UPDATE ${usage} SET key_id = 'key_none'`,
  "bans: of no key": () => "UPDATE bans SET key_id = 'key_none'",
  "webhooks: a cursor after the ledger's end": (n) => `UPDATE webhooks SET cursor_seq = 20 + ${n}`,
  "webhooks: a filter with a rounded id": () =>
    `UPDATE webhooks SET filter = '{"pets":[9007199254740992],"statuses":null,"causes":null,"below":null}'`,
  "webhooks: a filter with an unknown status": () =>
    `UPDATE webhooks SET filter = '{"pets":null,"statuses":["lost"],"causes":null,"below":null}'`,
  "webhooks: a filter without fields": () => "UPDATE webhooks SET filter = '{}'",
  "webhooks: an attempt after all dates": () =>
    "UPDATE webhooks SET next_attempt_at = 9007199254740991",
  "webhooks: a filter that is cut": () => `UPDATE webhooks SET filter = substr(filter, 1, 20)`,
  "webhooks: a secret": () => "UPDATE webhooks SET secret = 'hidden'",
  "webhooks: a state": () => "UPDATE webhooks SET state = 'lost'",
  "webhooks: a number of failures": (n) => `UPDATE webhooks SET failures = -${n}`,
  "removed pets: one that was never in the ledger": (n) =>
    `INSERT INTO removed_pets VALUES (900, ${n})`,
  "removed pets: a removal after the pet's last row": (n) =>
    `INSERT INTO removed_pets VALUES (1 + ${n} % 4, 20 + ${n})`,
  "audit: a key that does not exist": () => "UPDATE audit SET key_id = 'key_none'",
  "audit: a row deleted": () => "DELETE FROM audit WHERE seq = 1",
  "audit: a time after that of the next row": () =>
    "UPDATE audit SET at = 4102444800000 WHERE seq = 1",
  "audit: details that are no object": () => "UPDATE audit SET details = '[]'",
  "usage over time: of no key": () =>
    "UPDATE usage_points SET key_id = 'key_none' WHERE key_id = 'key_a'",
  "usage over time: a start within a minute": () =>
    "UPDATE usage_points SET start = start + 1 WHERE step = 'minute'",
  "usage over time: a count below zero": (n) => `UPDATE usage_points SET refused = -${n}`,
  "bans: an end": (n) => `UPDATE bans SET until = -${n}`,
};

/** A connection that disables constraints and triggers. */
export interface Tamperer {
  readonly names: TableNames;
  run(statements: string): Promise<unknown>;
  close(): Promise<void>;
}

const namesInSqlite: TableNames = {
  head: "head",
  tip: "head",
  usage: "usage",
  bytes: (hex) => `x'${hex}'`,
};
const namesInPostgres: TableNames = {
  head: "store",
  tip: "ledger_end",
  usage: "counts",
  bytes: (hex) => `'\\x${hex}'::bytea`,
};

export function tablesOf({ head, tip, usage }: TableNames): readonly string[] {
  const ledger = ["ledger", "remembered_keys", "epochs", "inventory"];
  const others = ["pets", "orders", "keys", "secrets", "bans", "webhooks", "removed_pets"];
  const operators = ["audit", "usage_points"];
  return [...new Set([...ledger, ...others, ...operators, head, tip, usage])];
}

/** Statements that give these tables the rows of their copies, which are named `was_…`. */
export function restoring(tables: readonly string[]): string {
  const each = tables.map(
    (table) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM was_${table};`,
  );
  return `BEGIN; ${each.join(" ")} COMMIT`;
}

/** Drops triggers and creates them again, so that verification never finds their absence. */
export async function tampererOfSqlite(path: string): Promise<Tamperer> {
  const database = new Database(path);
  database.run("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF");
  const triggers = database
    .query("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .values() as [string, string][];
  return {
    names: namesInSqlite,
    async run(statements) {
      for (const [name] of triggers) database.run(`DROP TRIGGER ${name}`);
      try {
        database.run(statements);
      } finally {
        for (const [, sql] of triggers) database.run(sql);
      }
    },
    close: async () => database.close(),
  };
}

/** A session in replica mode fires no triggers. Check constraints are removed permanently. */
export async function tampererOfPostgres(url: string): Promise<Tamperer> {
  const sql = new SQL(url, { max: 1 });
  await sql.unsafe(`SET session_replication_role = replica;
    DO $$ DECLARE one record; BEGIN
      FOR one IN SELECT conrelid::regclass AS relation, conname FROM pg_constraint
                 WHERE contype = 'c' AND conrelid = ANY('{${tablesOf(namesInPostgres).join()}}'::regclass[])
      LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', one.relation, one.conname); END LOOP;
    END $$`);
  return {
    names: namesInPostgres,
    run: (statements) => sql.unsafe(statements),
    close: () => sql.close(),
  };
}
