import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace, petstore, type Workspace } from "../support/process.ts";

describe("only the owner can open", () => {
  let place: Workspace;
  beforeEach(() => {
    place = openWorkspace();
  });
  afterEach(() => place.leave());

  const modes = (directory: string) =>
    Object.fromEntries(
      readdirSync(directory)
        .sort()
        .map((name) => [name, (statSync(join(directory, name)).mode & 0o777).toString(8)]),
    );
  const allPrivate = {
    "production.db": "600",
    "production.db-changes": "600",
    "production.db-serving": "600",
    "production.db-shm": "600",
    "production.db-wal": "600",
  };

  test("the files of a store and a folder created for it, under umask 0077", async () => {
    const command = ["sh", "-c", `umask 0077; exec "${petstore}" "$@"`, "sh"];
    const stdin = '{"petId":1,"name":"Rex"}';
    expect((await place.run(["pets", "import", "-"], { command, stdin })).code).toBe(0);
    expect(modes(place.path("data"))).toMatchObject({ "production.db": "600" });
    expect(statSync(place.path("data")).mode & 0o777).toBe(0o700);
    await place.serve(["serve"], { command });
    expect(modes(place.path("data"))).toEqual(allPrivate);
  });

  test("files that other users could open before, from the next start on", async () => {
    mkdirSync(place.path("data"));
    const served = await place.serve();
    served.kill("SIGKILL");
    await served.exited;
    for (const name of Object.keys(allPrivate)) chmodSync(place.path(`data/${name}`), 0o644);
    expect(existsSync(place.path("data/production.db-wal"))).toBe(true);
    await place.serve();
    expect(modes(place.path("data"))).toEqual(allPrivate);
    // A folder that already exists keeps its mode.
    expect(statSync(place.path("data")).mode & 0o777).not.toBe(0o700);
  });
});
