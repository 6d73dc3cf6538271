import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { openWorkspace, petstore } from "../support/process.ts";
import { createStore } from "../support/stocking.ts";

const place = openWorkspace();
beforeAll(() => createStore(`sqlite:${place.path("data/production.db")}`));
afterAll(() => place.leave());

test("bin/petstore runs through absolute and relative links, also with CDPATH set", async () => {
  mkdirSync(place.path("links/deeper"), { recursive: true });
  mkdirSync(place.path("trap/bin"), { recursive: true });
  symlinkSync(petstore, place.path("links/direct"));
  symlinkSync("../direct", place.path("links/deeper/relative"));
  const expected = await place.runHere([]);
  const env = { CDPATH: place.path("trap") };
  for (const link of ["./links/direct", "links/deeper/relative", place.path("links/direct")]) {
    expect(await place.run([], { command: [link], env })).toEqual(expected);
  }
  expect(await place.run([], { command: ["sh", "links/deeper/relative"], env })).toEqual(expected);
});

test("several commands at once on a database that does not exist yet all succeed", async () => {
  const create = (at: number) =>
    place.run([
      "keys",
      "create",
      "--name",
      `k${at}`,
      "--plan",
      "free",
      "--database",
      "sqlite:new/x.db",
    ]);
  const all = await Promise.all(Array.from({ length: 4 }, (_, at) => create(at)));
  const line = `petstore: created the store ${place.path("new/x.db")}\n`;
  expect(all.map((ran) => ran.err).join("")).toMatch(new RegExp(`^(${RegExp.escape(line)})+$`));
  const keys = await place.json<unknown[]>("keys", "list", "--database", "sqlite:new/x.db");
  expect(keys).toHaveLength(4);
});

test("a command whose reader has closed the pipe ends", async () => {
  const command = ["sh", "-c", `{ "${petstore}" "$@"; echo "code $?" >&2; } | true`, "sh"];
  const { err } = await place.run(["keys", "list"], { command });
  // The reader may close the pipe before or after the write.
  expect(err).toBeOneOf(["code 0\n", "code 141\n"]);
  const unheard = [
    ...["sh", "-c"],
    `{ "${petstore}" "$@" 2>&1; echo "code $?" >&3; } 3>&2 | true`,
    "sh",
  ];
  expect((await place.run(["fly"], { command: unheard })).err).toBe("code 2\n");
});
