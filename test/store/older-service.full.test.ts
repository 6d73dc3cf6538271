import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { resolve } from "node:path";
import { ledger } from "../fixtures/expected.ts";
import { openWorkspace, type Started, type Workspace } from "../support/process.ts";
import { readLedger, readRows, restore } from "../support/release-stores.ts";
import { expectUsageError } from "../support/usage-errors.ts";

describe("a SQLite store that a service of 0.3.0 is using", () => {
  let place: Workspace;
  beforeEach(() => {
    place = openWorkspace();
  });
  afterEach(() => place.leave());

  const refusal = "an older version of petstore is serving the store; restart it with this version";
  const commands = [
    ["verify"],
    ["keys", "list"],
    ["pets", "import", "-"],
    ["pets", "export", "-", "--format", "ndjson"],
  ];

  /** Locks the store as a service does, in another process. The lock is the same in 0.3.0. */
  async function lockElsewhere(path: string): Promise<Started> {
    const source = resolve(import.meta.dir, "../../src/store/sqlite/engine/serving-lock.ts");
    // Without a reference to it, the lock would be collected.
    const code = `import { lockForServing } from ${JSON.stringify(source)};
      globalThis.release = lockForServing(${JSON.stringify(path)});
      console.log("locked");
      setInterval(() => {}, 60_000);`;
    const holder = place.start([], { command: [process.execPath, "-e", code] });
    await holder.wrote("locked");
    return holder;
  }

  test("is neither opened nor migrated by a command, until that service ends", async () => {
    const database = await restore.sqlite("0.3.0", place);
    const schema = () => readRows(database, "SELECT name, sql FROM sqlite_schema ORDER BY name");
    const before = await schema();
    const service = await lockElsewhere(place.path("store.db"));
    for (const words of commands) {
      const ran = await place.runHere([...words, "--database", database]);
      expectUsageError(ran, refusal);
    }
    const elsewhere = `sqlite:${place.path("elsewhere.db")}`;
    const copying = ["migrate-store", "--from", database, "--to", elsewhere];
    expectUsageError(await place.runHere(copying), "another process is already serving");
    expect(await schema()).toEqual(before);
    expect(await readRows(database, "PRAGMA user_version")).toEqual([[2n]]);
    service.kill("SIGKILL");
    await service.exited;
    for (const words of commands) {
      expect(await place.runHere([...words, "--database", database])).toMatchObject({ code: 0 });
    }
    expect(await readLedger(database)).toEqual(ledger);
  });

  test("that this version serves can be opened by commands", async () => {
    const database = await restore.sqlite("0.3.0", place);
    await place.serve(["serve", "--database", database]);
    for (const words of commands) {
      expect(await place.runHere([...words, "--database", database])).toMatchObject({ code: 0 });
    }
  });
});
