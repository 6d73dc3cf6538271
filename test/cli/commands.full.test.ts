import { afterAll, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { openWorkspace, petstore } from "../support/process.ts";

const place = openWorkspace();
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
