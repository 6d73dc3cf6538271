import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { commands } from "../../src/cli/commands.ts";
import { parseArguments } from "../../src/cli/flags.ts";
import { findCommand } from "../../src/cli/run.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { engines } from "../support/service.ts";
import { createStore, verifyStore } from "../support/stocking.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-existence-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command without a process, and leaves signals to the test. */
async function run(words: readonly string[]): Promise<number> {
  const command = findCommand(words)!;
  return command.run(parseArguments(command, words.slice(command.name.split(" ").length)));
}

/** Commands that need a store, with operands and flags that they accept. */
const needStore: Readonly<Record<string, readonly string[]>> = {
  verify: [],
  "keys list": [],
  "keys show": ["key_0"],
  "keys rotate": ["key_0"],
  "keys revoke": ["key_0"],
  "keys unban": ["key_0"],
  "pets export": [join(folder, "pets.csv")],
  "orders export": [join(folder, "orders.csv")],
  "webhooks create": ["--url", "https://shop.example/"],
  "webhooks list": [],
  "webhooks show": ["wh_0"],
  "webhooks rotate": ["wh_0"],
  "webhooks pause": ["wh_0"],
  "webhooks resume": ["wh_0"],
  "webhooks replay": ["wh_0", "--from", "1"],
  "webhooks test": ["wh_0"],
  "webhooks resend": ["wh_0", "msg_0"],
  "webhooks delete": ["wh_0"],
  history: ["1"],
  ledger: [],
  snapshot: ["0"],
  diff: ["0", "0"],
  undo: ["1"],
  audit: [],
  requests: [],
  backup: [join(folder, "shop.petstore")],
};

/** Commands that bring content and create a store that is missing. */
const bringContent = [
  "serve",
  "quickstart",
  "keys create",
  "pets import",
  "orders import",
  "restore",
  "migrate-store",
];

/** Commands that work without a store. */
const needNoStore = ["config", "completion", "doctor", "drill", "health", "webhooks listen"];

test("every command is known to need a store, to bring content, or to need none", () => {
  const known = [...Object.keys(needStore), ...bringContent, ...needNoStore];
  expect(commands.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
});

for (const engine of engines) {
  describe(`${engine}: a store that does not exist`, () => {
    test("is refused by every command that needs one, by name, and not created", async () => {
      const path = join(folder, "no-such-folder/shop.db");
      const url =
        engine === "postgres" ? await (await sharedPostgres()).freshDatabase() : `sqlite:${path}`;
      const place = engine === "postgres" ? new URL(url).pathname.slice(1) : path;
      const words = commands
        .filter(({ name }) => name in needStore)
        .map(({ name }) => [...name.split(" "), ...needStore[name]!, "--database", url]);
      words.push(["migrate-store", "--from", url, "--to", `sqlite:${join(folder, "target.db")}`]);
      for (const command of words) {
        const refused = expect(run(command), command.join(" ")).rejects;
        await refused.toThrow(
          new RegExp(`^there is no store .*${RegExp.escape(place)}.*--database`),
        );
      }
      expect(readdirSync(folder)).toEqual([]);
      if (engine === "sqlite") return;
      const sql = new SQL(url, { max: 1 });
      const query =
        "SELECT count(*)::int FROM pg_class WHERE relnamespace = 'public'::regnamespace";
      expect(await sql.unsafe(query).values()).toEqual([[0]]);
      await sql.close();
    });
  });
}

describe("a SQLite file is not taken for a new store", () => {
  const path = join(folder, "shop.db");
  const database = `sqlite:${path}`;
  const copy = join(folder, "copy.db");
  const verify = () => run(["verify", "--database", `sqlite:${copy}`]);
  const create = () =>
    run(["keys", "create", "--name", "a", "--plan", "free", "--database", `sqlite:${copy}`]);

  test("if it is empty or has no tables, by a command that needs content", async () => {
    writeFileSync(copy, "");
    await expect(verify()).rejects.toThrow(`there is no store at ${copy}: the file is empty`);
    const other = new Database(copy);
    other.run("VACUUM");
    other.run("CREATE TABLE songs (title TEXT)");
    other.run("DROP TABLE songs");
    other.close();
    await expect(verify()).rejects.toThrow(`there is no store at ${copy}: the database has no`);
  });

  test("nor for a missing one, if the path cannot be followed", async () => {
    const loop = join(folder, "loop");
    symlinkSync(loop, loop);
    const verifying = run(["verify", "--database", `sqlite:${loop}/shop.db`]);
    await expect(verifying).rejects.toThrow(`cannot open the store ${loop}/shop.db: `);
  });

  test("if its tables are in a -wal file that was not copied", async () => {
    const other = new Database(copy);
    other.run("PRAGMA journal_mode = wal");
    other.close();
    rmSync(`${copy}-wal`, { force: true });
    for (const command of [verify, create]) {
      await expect(command()).rejects.toThrow(`${copy}: the file is a copy without its -wal file`);
    }
  });

  test("if it is missing and its -wal file is left, which stays", async () => {
    rmSync(copy, { force: true });
    writeFileSync(`${copy}-wal`, "updates");
    await expect(create()).rejects.toThrow(`${copy}-wal has updates of a store`);
    expect(existsSync(copy)).toBe(false);
    expect(Bun.file(`${copy}-wal`).size).toBe(7);
    rmSync(`${copy}-wal`);
  });

  test("a new store is complete in its file, also without the log", async () => {
    await createStore(database);
    const open = new Database(path);
    open.run("BEGIN IMMEDIATE");
    copyFileSync(path, copy);
    open.close();
    expect(await verifyStore(`sqlite:${copy}`)).toMatchObject({ faultCount: 0, rows: 0 });
  });
});
