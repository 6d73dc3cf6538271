import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";
import { allPrivate, expectPrivateStore, modesIn } from "../support/file-modes.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";

describe("only the owner can open", () => {
  let place: Workspace;
  beforeEach(() => {
    place = openWorkspace();
  });
  afterEach(() => place.leave());

  test("the files of a store and a folder created for it, under umask 0077", () =>
    expectPrivateStore(place, "0077"));

  test("files that other users could open before, from the next start on", async () => {
    mkdirSync(place.path("data"));
    const served = await place.serve();
    served.kill("SIGKILL");
    await served.exited;
    for (const name of Object.keys(allPrivate)) chmodSync(place.path(`data/${name}`), 0o644);
    expect(existsSync(place.path("data/production.db-wal"))).toBe(true);
    await place.serve();
    expect(modesIn(place.path("data"))).toEqual(allPrivate);
    // A folder that already exists keeps its mode.
    expect(statSync(place.path("data")).mode & 0o777).not.toBe(0o700);
  });
});
