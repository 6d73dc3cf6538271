import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { commands } from "../../src/cli/commands.ts";
import { readConfig } from "../../src/config.ts";
import { byCommand } from "../../src/domain/audit/audit.ts";
import { issueKey } from "../../src/domain/keys/lifecycle.ts";
import { systemClock } from "../../src/opening/engines.ts";
import { openExistingStore } from "../../src/opening/stores.ts";
import { anEntry } from "../support/audit.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace } from "../support/process.ts";
import { type Engine, surfaceEngine } from "../support/service.ts";
import { createKey, importPets, withStoreAt } from "../support/stocking.ts";
import { webhookNamed } from "../support/webhooks.ts";

const place = openWorkspace();
afterAll(() => place.leave());

const outFolder = place.path("out");
mkdirSync(outFolder);
writeFileSync(place.path("pets.ndjson"), '{"petId":1,"name":"Rex","quantity":9}\n');
writeFileSync(place.path("orders.ndjson"), "");

/** A store that the commands read. */
interface ReadStore {
  readonly database: string;
  readonly keyId: string;
  readonly backup: string;
}

/** The operands and flags of every command that only reads a store. */
const readers: Readonly<Record<string, (store: ReadStore) => readonly string[]>> = {
  "keys list": () => [],
  "keys show": ({ keyId }) => [keyId],
  requests: () => [],
  "pets import": () => ["pets.ndjson", "--dry-run"],
  "orders import": () => ["orders.ndjson", "--dry-run"],
  "pets export": () => [join(outFolder, "pets.csv")],
  "orders export": () => [join(outFolder, "orders.csv")],
  "webhooks list": () => [],
  "webhooks show": () => ["wh_one"],
  history: () => ["1"],
  ledger: () => [],
  snapshot: () => ["1"],
  diff: () => ["1", "2"],
  undo: () => ["2", "--dry-run"],
  audit: () => [],
  verify: () => [],
  restore: ({ database, backup }) => [backup, "--dry-run", "--ledger", database],
  doctor: () => [],
};

/** Commands that change nothing and open no store. */
const others = ["health", "webhooks listen", "config", "completion"];

test("every command that only reads, or that can, is known", () => {
  const reading = commands
    .filter(({ changes, flags }) => changes === undefined || "dry-run" in flags)
    .map(({ name }) => name);
  expect(reading.toSorted()).toEqual([...Object.keys(readers), ...others].toSorted());
});

/** All content of a store: the bytes of files, apart from what SQLite makes for readers; all rows. */
const contentOf: Record<Engine, (database: string) => Promise<unknown>> = {
  async sqlite(database) {
    const folder = join(database.replace("sqlite:", ""), "..");
    const names = readdirSync(folder).filter((name) => !/-(wal|shm)$/.test(name));
    return names.map((name) => [name, Bun.hash(readFileSync(join(folder, name)))]);
  },
  async postgres(database) {
    const sql = new SQL(database, { max: 1 });
    const [{ tables, rows }] = await sql`
      SELECT count(*)::int AS tables, string_agg(relname || query_to_xml('SELECT one::text FROM '
        || quote_ident(relname) || ' AS one ORDER BY 1', true, true, '')::text, '' ORDER BY relname) AS rows
      FROM pg_class WHERE relkind IN ('r', 'S') AND relnamespace = 'public'::regnamespace`;
    await sql.close();
    return [tables, rows];
  },
};

let stores = 0;
const addressOf: Record<Engine, () => Promise<string>> = {
  sqlite: async () => `sqlite:${place.path(`store-${++stores}/shop.db`)}`,
  postgres: () => createdDatabase(),
};

/**
 * Makes a store and a backup of it. The store then lacks the row of its epoch, as on PostgreSQL after a
 * failover and in a file after a restore: every command added it. A file also lacks the files of services.
 */
async function makeStore(engine: Engine): Promise<ReadStore> {
  const database = await addressOf[engine]();
  await importPets(database, '{"petId":1,"name":"Rex","quantity":3}');
  await importPets(database, '{"petId":1,"name":"Rex","quantity":5}');
  const { id: keyId } = await createKey(database, { name: "till", plan: "free" });
  await withStoreAt(database, ({ webhooks }) =>
    webhooks.addWebhook(webhookNamed("wh_one", {}), anEntry),
  );
  const backup = place.path(`${++stores}.petstore`);
  const made = await place.runHere(["backup", backup, "--database", database]);
  expect(made).toMatchObject({ code: 0 });
  if (engine === "postgres") {
    const sql = new SQL(database, { max: 1 });
    await sql`DELETE FROM epochs`;
    await sql.close();
  } else {
    const path = database.replace("sqlite:", "");
    using file = new Database(path);
    file.run("DELETE FROM epochs WHERE epoch = (SELECT epoch FROM head)");
    for (const ending of ["-serving", "-changes"]) rmSync(path + ending, { force: true });
  }
  return { database, keyId, backup };
}

for (const engine of [surfaceEngine]) {
  describe(`on ${engine}`, () => {
    test("a command that only reads a store changes nothing in it", async () => {
      const store = await makeStore(engine);
      const { database } = store;
      const before = await contentOf[engine](database);
      for (const [name, wordsOf] of Object.entries(readers)) {
        const words = [...name.split(" "), ...wordsOf(store)];
        // A restore goes to a store that is missing.
        const target = name === "restore" ? `sqlite:${place.path("none.db")}` : database;
        const { code, out, err } = await place.runHere([...words, "--database", target]);
        // `doctor` and `verify` find faults.
        expect([0, 1], `${name}: ${out}${err}`).toContain(code);
        expect(await contentOf[engine](database), name).toEqual(before);
      }
    });

    test("a store that was opened for reading accepts no write", async () => {
      const { database } = await makeStore(engine);
      const before = await contentOf[engine](database);
      const store = await openExistingStore(readConfig({ database }, {}), systemClock, "reads");
      try {
        const by = byCommand(Date.now());
        const issuing = issueKey(store, "production", { name: "no", plan: "free" }, by);
        expect(await issuing.catch(() => "rejected")).toBe("rejected");
        const pruning = store.idempotency.prune(Date.now(), 10);
        expect(await pruning.catch(() => "rejected")).toBe("rejected");
      } finally {
        await store.close();
      }
      expect(await contentOf[engine](database)).toEqual(before);
    });
  });
}

test("without a store, a command that only reads creates nothing", async () => {
  const database = `sqlite:${place.path("none/shop.db")}`;
  const files = () => readdirSync(place.folder, { recursive: true }).sort();
  const before = files();
  const withoutStore = ["pets import", "orders import", "restore", "doctor"];
  for (const [name, wordsOf] of Object.entries(readers)) {
    const words = [
      ...name.split(" "),
      ...wordsOf({ database, keyId: "key_0", backup: "0.petstore" }),
    ];
    const { code, out, err } = await place.runHere([...words, "--database", database]);
    expect(files(), name).toEqual(before);
    if (withoutStore.includes(name)) continue;
    expect({ code, out }, name).toEqual({ code: 2, out: "" });
    expect(err, name).toMatch(/^petstore: there is no store at [^\n]*\n$/);
  }
});
