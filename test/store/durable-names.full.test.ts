import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, linkSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { examineStore, findingsOf } from "../support/doctor.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { createKey, createStore, verifyStore } from "../support/stocking.ts";
import { canTrace, runTraced } from "../support/strace.ts";

let place: Workspace;
beforeEach(() => {
  place = openWorkspace();
});
afterEach(() => place.leave());

describe("a store that lost power while it was restored", () => {
  /** The state after the store got its name, and before the scratch folder was removed. */
  async function loseScratch(): Promise<{ database: string; scratch: string }> {
    const database = place.path("data/production.db");
    await createKey(`sqlite:${database}`, { name: "a", plan: "free" });
    const scratch = place.path("data/.petstore-scratch-abcdef");
    mkdirSync(scratch);
    linkSync(database, join(scratch, "store.db"));
    return { database, scratch };
  }

  test("is served, and has one name again", async () => {
    const { database, scratch } = await loseScratch();
    const service = await place.serve();
    service.kill("SIGTERM");
    expect(await service.exited).toBe(0);
    expect(existsSync(scratch)).toBe(false);
    expect(statSync(database).nlink).toBe(1);
    expect(await verifyStore(`sqlite:${database}`)).toMatchObject({ faultCount: 0 });
  });

  test("is explained by doctor, which names the scratch folder", async () => {
    const { database, scratch } = await loseScratch();
    const [finding] = findingsOf(await examineStore(`sqlite:${database}`), "file names");
    expect(finding).toMatchObject({ result: "warning", found: expect.stringContaining(scratch) });
    expect(existsSync(scratch)).toBe(true);
  });

  test("is still refused if it has another second name, and no other scratch folder is touched", async () => {
    const { database } = await loseScratch();
    linkSync(database, place.path("data/other.db"));
    const foreign = place.path("data/.petstore-scratch-foreign");
    mkdirSync(foreign);
    writeFileSync(join(foreign, "store.db"), "another file");
    expect(await place.run(["serve", "--port", "0"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("has a second name (a hard link)"),
    });
    expect(readdirSync(foreign)).toEqual(["store.db"]);
  });
});

test.skipIf(!canTrace)(
  "the name of every new folder of a store is flushed before the store is written (needs strace)",
  async () => {
    const database = place.path("shop/data/production.db");
    const words = ["keys", "create", "--name", "a", "--plan", "free"];
    const ran = await runTraced(place, [...words, "--database", `sqlite:${database}`]);
    expect(ran.code).toBe(0);
    const written = ran.calls.findIndex(
      ({ name, file }) => name === "pwrite64" && file === database,
    );
    const flushed = ran.calls.slice(0, written).filter(({ name }) => name === "fsync");
    const folders = [place.folder, place.path("shop"), place.path("shop/data")];
    expect(flushed.map(({ file }) => file)).toEqual(expect.arrayContaining(folders));
  },
);

test.skipIf(!canTrace)("a backup fails if its name cannot be flushed (needs strace)", async () => {
  const database = `sqlite:${place.path("shop.db")}`;
  await createStore(database);
  const folder = place.path("backups");
  mkdirSync(folder);
  const words = ["backup", join(folder, "monday.petstore"), "--database", database];
  const ran = await runTraced(place, words, { path: folder, inject: "fsync:error=EIO" });
  expect(ran).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringMatching(/cannot write .*monday\.petstore: the disk reports an error/),
  });
});
