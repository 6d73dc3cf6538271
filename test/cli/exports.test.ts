import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { openWorkspace, petstore } from "../support/process.ts";
import { expectUsageError } from "../support/usage-errors.ts";

const place = openWorkspace();
afterAll(() => place.leave());

/** More than a page of the export. */
const petCount = 5_003;
beforeAll(async () => {
  const pets = Array.from({ length: petCount }, (_, at) =>
    JSON.stringify({ petId: at + 1, name: `Pet ${"x".repeat(200)}` }),
  );
  await place.runHere(["pets", "import", "-"], { stdin: pets.join("\n") });
});

const modeOf = (name: string) => statSync(place.path(name)).mode & 0o777;
const leftovers = () => readdirSync(place.folder).filter((name) => name.endsWith(".tmp"));

test.each(["000", "022", "277"])(
  "only its owner can read an export, whatever the umask is (%s)",
  async (umask) => {
    const name = `pets-${umask}.csv`;
    const before = process.umask(Number.parseInt(umask, 8));
    try {
      const ran = await place.runHere(["pets", "export", name]);
      expect(ran).toEqual({ code: 0, out: "", err: "" });
    } finally {
      process.umask(before);
    }
    expect(modeOf(name)).toBe(0o600);
    expect(readFileSync(place.path(name), "utf8").split("\n")).toHaveLength(petCount + 2);
  },
);

test("an export over a file that others can read makes it private", async () => {
  writeFileSync(place.path("open.csv"), "old");
  chmodSync(place.path("open.csv"), 0o644);
  expect((await place.runHere(["pets", "export", "open.csv"])).code).toBe(0);
  expect(modeOf("open.csv")).toBe(0o600);
});

test("an export to a link replaces the file and keeps the link", async () => {
  writeFileSync(place.path("real.csv"), "old");
  symlinkSync("real.csv", place.path("link.csv"));
  expect((await place.runHere(["pets", "export", "link.csv"])).code).toBe(0);
  expect(readFileSync(place.path("real.csv"), "utf8")).toStartWith("petId,name");
  expect(readdirSync(place.folder, { withFileTypes: true })).toContainEqual(
    expect.objectContaining({ name: "link.csv", isSymbolicLink: expect.any(Function) }),
  );
});

test("an export that fails leaves no file and does not change an existing one", async () => {
  writeFileSync(place.path("kept.csv"), "yesterday's\n");
  // With the signal ignored, a write beyond the file size limit fails with an error.
  const limited = `trap '' XFSZ; ulimit -f 256; exec "${petstore}" "$@"`;
  const command = ["sh", "-c", limited, "sh"];
  for (const name of ["kept.csv", "new.csv"]) {
    const ran = await place.run(["pets", "export", name], { command });
    expectUsageError(ran, `cannot write ${name}: the file would be too large`);
  }
  expect(readFileSync(place.path("kept.csv"), "utf8")).toBe("yesterday's\n");
  expect(readdirSync(place.folder)).not.toContain("new.csv");
  expect(leftovers()).toEqual([]);
});
