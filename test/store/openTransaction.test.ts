import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { digestOf, scopes } from "../../src/domain/keys.ts";
import type { Store } from "../../src/domain/ports.ts";
import { createStatements } from "../../src/limits/statements.ts";
import { createDatabase, type Database } from "../../src/store/postgres/database.ts";
import type { Session } from "../../src/store/postgres/session.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { commit } from "../../src/store/postgres/writing.ts";
import { petRow } from "../pets.ts";
import { migratedDatabase } from "../postgresTemplate.ts";

const changes = 2_000;
/** Pages that may be touched more than at first; the versions that must be kept fill over 40. */
const morePagesMax = 20;

let database: Database;
let store: Store;
let session: Session;
let forgotten: SQL;
let vacuuming: SQL;
beforeAll(async () => {
  const url = await migratedDatabase();
  database = createDatabase(url);
  store = await openPostgres({ database, environment: "production", patienceMs: 0 });
  session = await database.connect();
  forgotten = new SQL(url, { max: 1 });
  vacuuming = new SQL(url, { max: 1 });
});
afterAll(async () => {
  session.close();
  await forgotten.close({ timeout: 0 });
  await vacuuming.close();
  await store.close();
});

/** Runs work whose statements are explained, and gives the pages that each of them touched. */
async function pagesOf(work: (explained: Session) => Promise<unknown>): Promise<number> {
  let pages = 0;
  const query: Session["query"] = async (text, values) => {
    const rows = await session.query(text, values);
    if (/^\s*(SELECT|WITH)/.test(text)) {
      const [row] = await session.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values);
      const [{ Plan: plan }] = JSON.parse(JSON.stringify(row![0]));
      pages += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
    }
    return rows;
  };
  await work({ ...session, query });
  return pages;
}

test("a transaction left open by anybody makes no look, no count and no commit touch more and more pages", async () => {
  await store.importPets(
    (async function* () {
      yield [petRow({ petId: 1n }, 0)];
    })(),
    "test",
  );
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  const terms = {
    plan: "free",
    limits,
    scopes,
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
  } as const;
  await store.addKey({ id: "key_a", name: "test", ...terms }, digestOf("a"));
  const set = (quantity: number) => {
    const by = { cause: "api", keyId: null, requestId: null, reason: null } as const;
    return [{ petId: 1n, quantity, ...by }];
  };
  const take = (one: Session) =>
    createStatements(one.query, () => null).take([{ keyId: "key_a", limits, wanted: 1 }]);
  /** A change of an unknown pet locks the head and reads, and writes nothing. */
  const commitNothing = (one: Session) =>
    commit(one, [{ ...set(1)[0]!, petId: 2n }, ...set(1)], null);

  await take(session);
  using open = await forgotten.reserve();
  await open`BEGIN ISOLATION LEVEL REPEATABLE READ`;
  await open`SELECT count(*) FROM pets`;
  const before = { take: await pagesOf(take), commit: await pagesOf(readOnly(commitNothing)) };
  for (let change = 1; change <= changes; change++) {
    await commit(session, set(change), null);
    await take(session);
  }
  // As autovacuum does every minute. It tells the planner how few rows there are.
  await vacuuming.unsafe("VACUUM ANALYZE");
  const after = { take: await pagesOf(take), commit: await pagesOf(readOnly(commitNothing)) };
  expect(after.take - before.take).toBeLessThan(morePagesMax);
  expect(after.commit - before.commit).toBeLessThan(morePagesMax);
  expect((await store.look()).seq).toBe(1 + changes);
  await open`ROLLBACK`;
}, 60_000);

/** Leaves out the group's write and its COMMIT, which cannot be done twice. */
function readOnly(work: (one: Session) => Promise<unknown>) {
  return async (explained: Session) => {
    const stop = new Error("enough was read");
    let reads = 0;
    const query: Session["query"] = (text, values) => {
      if (/INSERT INTO ledger/.test(text)) throw stop;
      reads += 1;
      return explained.query(text, values);
    };
    await work({ ...explained, query }).catch((error: unknown) => {
      if (error !== stop) throw error;
    });
    await session.query("ROLLBACK");
    expect(reads).toBe(3);
  };
}
