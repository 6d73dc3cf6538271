import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { enterPlace, expectRefused, petstore } from "../support/process.ts";

const place = enterPlace();
afterAll(() => place.leave());

const petCount = 5_000;
beforeAll(async () => {
  const pets = Array.from({ length: petCount }, (_, at) =>
    JSON.stringify({ petId: at + 1, name: `Pet ${"x".repeat(200)}` }),
  );
  await place.run(["pets", "import", "-"], { stdin: pets.join("\n") });
});

const modeOf = (name: string) => statSync(place.path(name)).mode & 0o777;
const leftovers = () => readdirSync(place.folder).filter((name) => name.endsWith(".tmp"));

/** Runs the command line after another shell command, in the same process. */
const after = (first: string) => ["sh", "-c", `${first}; exec "${petstore}" "$@"`, "sh"];

test.each(["000", "022", "277"])(
  "an export can be read by its owner alone, whatever the umask (%s)",
  async (umask) => {
    const name = `pets-${umask}.csv`;
    const ran = await place.run(["pets", "export", name], { command: after(`umask ${umask}`) });
    expect(ran).toEqual({ code: 0, out: "", err: "" });
    expect(modeOf(name)).toBe(0o600);
    expect(readFileSync(place.path(name), "utf8").split("\n")).toHaveLength(petCount + 2);
  },
);

test("an export over an older file that others could read makes it private", async () => {
  writeFileSync(place.path("open.csv"), "old");
  chmodSync(place.path("open.csv"), 0o644);
  expect((await place.run(["pets", "export", "open.csv"])).code).toBe(0);
  expect(modeOf("open.csv")).toBe(0o600);
});

test("an export through a link replaces the file, and the link stays", async () => {
  writeFileSync(place.path("real.csv"), "old");
  symlinkSync("real.csv", place.path("link.csv"));
  expect((await place.run(["pets", "export", "link.csv"])).code).toBe(0);
  expect(readFileSync(place.path("real.csv"), "utf8")).toStartWith("petId,name");
  expect(readdirSync(place.folder, { withFileTypes: true })).toContainEqual(
    expect.objectContaining({ name: "link.csv", isSymbolicLink: expect.any(Function) }),
  );
});

test("an export that fails half way leaves no file, and an older file as it was", async () => {
  writeFileSync(place.path("kept.csv"), "yesterday's\n");
  // A signal that is ignored turns the limit on a file's size into a failed write.
  const command = after("trap '' XFSZ; ulimit -f 256");
  for (const name of ["kept.csv", "new.csv"]) {
    const ran = await place.run(["pets", "export", name], { command });
    expectRefused(ran, `cannot write ${name}: the file would be too large`);
  }
  expect(readFileSync(place.path("kept.csv"), "utf8")).toBe("yesterday's\n");
  expect(readdirSync(place.folder)).not.toContain("new.csv");
  expect(leftovers()).toEqual([]);
});
