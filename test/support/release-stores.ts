import { Database } from "bun:sqlite";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { SQL } from "bun";
import { sharedPostgres } from "./postgres.ts";
import type { Workspace } from "./process.ts";
import type { Engine } from "./service.ts";

/** The keys of a store in test/fixtures. */
export interface ReleaseKeys {
  /** Id and texts of every key, by its name. A rotated key has two texts, the older one first. */
  readonly keys: Readonly<Record<string, { id: string; texts: readonly string[] }>>;
  /** What `petstore keys list --json` of the release printed. */
  readonly listed: readonly { name: string; lastUsedAt: string | null }[];
  /** What `petstore webhooks list --json` of the release printed. Earlier ones have no webhooks. */
  readonly webhooks: readonly { readonly filter: object }[];
}

const fixture = (name: string) => resolve(import.meta.dir, "../fixtures", name);
const extensions: Record<Engine, string> = { sqlite: "db", postgres: "sql" };

export function readKeys(release: string, engine: Engine): ReleaseKeys {
  const name = `store-${release}.${extensions[engine]}.json`;
  return { webhooks: [], ...JSON.parse(readFileSync(fixture(name), "utf8")) };
}

/** Copies the store of a release to a new database and returns its address. */
export const restore = {
  async sqlite(release: string, place: Workspace): Promise<string> {
    const name = `store-${release}.db`;
    // The files beside the database stay behind when a service stops, so the next release finds them.
    for (const file of readdirSync(fixture(""))) {
      if (file !== name && !file.startsWith(`${name}-`)) continue;
      copyFileSync(fixture(file), place.path(`store.db${file.slice(name.length)}`));
    }
    return `sqlite:${place.path("store.db")}`;
  },
  async postgres(release: string): Promise<string> {
    const url = await (await sharedPostgres()).freshDatabase();
    await using sql = new SQL(url, { max: 1 });
    await sql.unsafe(readFileSync(fixture(`store-${release}.sql`), "utf8"));
    return url;
  },
} satisfies Record<Engine, (release: string, place: Workspace) => Promise<string>>;

/** The columns of `ledger` in test/fixtures/expected.ts. */
const changeColumns = `seq, pet_id, quantity_before, quantity_after, status_before, status_after,
  previous, cause, reason`;

/** Reads the ledger without the code under test, one line for each row. */
export async function readLedger(database: string, columns = changeColumns): Promise<string[]> {
  const rows = await readRows(database, `SELECT ${columns} FROM ledger ORDER BY seq`);
  return rows.map((row) => row.map((value) => value ?? "-").join(" "));
}

/** The rows of a query. 64-bit integers are bigints. */
export async function readRows(database: string, query: string): Promise<unknown[][]> {
  if (database.startsWith("sqlite:")) {
    using file = new Database(database.slice("sqlite:".length), { safeIntegers: true });
    return file.query(query).values();
  }
  await using sql = new SQL(database, { max: 1, bigint: true });
  const rows: Iterable<unknown[]> = await sql.unsafe(query).values();
  return [...rows];
}

/**
 * The hash of every row, as docs/proof.md describes it and without the code under test. The first is
 * that of an empty ledger.
 */
export async function hashesOf(database: string): Promise<string[]> {
  const columns = `seq, pet_id, quantity_before, status_before, quantity_after, status_after, cause,
    key_id, request_id, reason, at`;
  const rows = await readRows(database, `SELECT ${columns} FROM ledger ORDER BY seq`);
  const hashes = [new Bun.SHA256().digest("hex")];
  for (const row of rows) {
    const values = row.map((value) =>
      typeof value === "bigint" ? `${value}` : JSON.stringify(value),
    );
    const text = `${hashes.at(-1)}[${values.join()}]`;
    hashes.push(new Bun.SHA256().update(text).digest("hex"));
  }
  return hashes;
}
