import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { SQL } from "bun";
import { auditReads } from "../../src/store/audit.ts";
import { petReads } from "../../src/store/catalogue.ts";
import { createPrimaryGuard } from "../../src/store/postgres/engine/primary.ts";
import { createHistoryReader } from "../../src/store/postgres/history.ts";
import { scriptsOn } from "../../src/store/sqlite/engine/scripts.ts";
import type { Statement } from "../../src/store/statements.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { startTestService } from "../support/service.ts";

/**
 * The planner reads a small table whole, and a prepared plan is kept when the table has grown. With
 * such a plan, a search in a ledger of a million rows would take seconds.
 */
test("PostgreSQL reads the ledger by its primary key, also while it is empty or small", async () => {
  await using pool = new SQL(await createdDatabase(), { max: 1, bigint: true });
  const sql = await pool.reserve();
  const query = (text: string, values: readonly unknown[] = []) =>
    sql.unsafe(text, values as unknown[]).values();
  const history = createHistoryReader(
    createPrimaryGuard(() => {}),
    query,
    query,
  );

  /** Runs every read more often than the server makes a plan for, and counts the whole scans. */
  async function countScans(): Promise<readonly unknown[]> {
    await sql`BEGIN`;
    for (let run = 0; run < 10; run++) {
      await history.listRows({ after: 0, upTo: 100 }, 10);
      await history.listRows({ after: 0, upTo: 100, cause: "api", keyId: "key_a" }, 10);
      await history.seqAt(5);
      await history.petRows(1n, 10, 10);
      await history.petRowBefore(1n, 10, 1, 10);
    }
    const [counts] = await query(
      "SELECT seq_scan, idx_scan > 100 FROM pg_stat_xact_user_tables WHERE relname = 'ledger'",
    );
    await sql`COMMIT`;
    return counts!;
  }

  expect((await countScans())[0]).toBe(0n);
  await query(`INSERT INTO ledger (seq, pet_id, previous, cause, at, hash)
    SELECT seq, 1, nullif(seq - 1, 0), 'api', seq, sha256('') FROM generate_series(1, 10) AS seq`);
  await query("UPDATE ledger_end SET seq = 10 WHERE seq = 0");
  await query("VACUUM ANALYZE ledger");
  expect(await countScans()).toEqual([0n, true]);
  sql.release();
});

test("PostgreSQL starts a page of pets at its first id, in both tables", async () => {
  await using pool = new SQL(await createdDatabase(), { max: 1, bigint: true });
  // As with a million pets, without adding them.
  await pool`SET enable_seqscan = off`;
  await pool`SET enable_hashjoin = off`;
  await pool`SET enable_nestloop = off`;
  await pool`SET enable_bitmapscan = off`;
  for (const read of Object.values(petReads)) {
    const { text, values } = read(900_000n, 1_000).next().value as Statement;
    const plan = await pool.unsafe(`EXPLAIN ${text}`, values as unknown[]).values();
    expect(plan.join("\n").match(/Index Cond: \(pet_id >= /g)).toHaveLength(2);
  }
});

test("SQLite starts a page of the audit log at its row, and does not read all later ones", async () => {
  const service = await startTestService("sqlite");
  using database = new Database(service.databaseUrl.replace("sqlite:", ""));
  let plan: unknown;
  const explaining = {
    query: (text: string) => ({
      values(...values: null[]) {
        plan = database.query(`EXPLAIN QUERY PLAN ${text}`).all(...values);
        return [];
      },
    }),
  };
  scriptsOn(explaining as unknown as Database, auditReads).listEntries({}, 10);
  expect(JSON.stringify(plan)).toContain("SEARCH audit USING INTEGER PRIMARY KEY");
  await service.stop();
});
