import { expect } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { petstore, type Workspace } from "./process.ts";

/** The files of a store that is served, none of which others can open. */
export const allPrivate = {
  "production.db": "600",
  "production.db-changes": "600",
  "production.db-serving": "600",
  "production.db-shm": "600",
  "production.db-wal": "600",
};

/** The permissions of each file in a folder. */
export const modesIn = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [
      name,
      (statSync(join(folder, name)).mode & 0o777).toString(8),
    ]),
  );

/** Creates and serves a store under a umask, and expects that only its owner can open its files. */
export async function expectPrivateStore(place: Workspace, umask: string): Promise<void> {
  const command = ["sh", "-c", `umask ${umask}; exec "${petstore}" "$@"`, "sh"];
  const stdin = '{"petId":1,"name":"Rex"}';
  expect((await place.run(["pets", "import", "-"], { command, stdin })).code).toBe(0);
  expect(modesIn(place.path("data"))).toMatchObject({ "production.db": "600" });
  expect(statSync(place.path("data")).mode & 0o777).toBe(0o700);
  await place.serve(["serve"], { command });
  expect(modesIn(place.path("data"))).toEqual(allPrivate);
}
