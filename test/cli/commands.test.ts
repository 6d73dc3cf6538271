import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { enterPlace, expectRefused, petstore } from "../support/process.ts";

const place = enterPlace();
afterAll(() => place.leave());

test("help is printed for no words, help and --help anywhere, and names every command", async () => {
  const shown = await place.run([]);
  expect(shown.code).toBe(0);
  for (const words of [["help"], ["--help"], ["keys", "create", "--help"]]) {
    expect(await place.run(words)).toEqual(shown);
  }
  for (const name of ["serve", "keys create", "pets import", "orders import", "verify"]) {
    expect(shown.out).toContain(`petstore ${name}`);
  }
});

describe("a refused command is one sentence and exit code 2", () => {
  const cases: [words: string[], sentence: string][] = [
    [["fly"], "there is no command 'fly'"],
    [["keys"], "there is no command 'keys'"],
    [["toString"], "there is no command 'toString'"],
    [["__proto__"], "there is no command '__proto__'"],
    [["serve", "now"], "unexpected 'now'"],
    [["serve", "--colour"], "unknown option '--colour'"],
    [["serve", "--colour.red"], "unknown option '--colour.red'"],
    [["serve", "--port"], "--port"],
    [["serve", "--port", "99999"], "--port must be a port from 0 to 65535, not '99999'"],
    [["serve", "--env", "moon"], "--env must be production or staging, not 'moon'"],
    [["serve", "--database", "mysql://x"], "--database must be sqlite:PATH or postgres://"],
    [["verify", "--database", "sqlite://data/shop.db"], "--database must be sqlite:PATH"],
    [["serve", "--pets-sunset", "2027-02-31"], "--pets-sunset must be a date"],
    [["serve", "--pets-sunset", "5"], "--pets-sunset must be a date"],
    [
      ["serve", "--pets-sunset", "2025-12-31T23:59:59Z"],
      "--pets-sunset must be 2026-01-01T00:00:00Z, when the operation was deprecated, or later",
    ],
    [["serve", "--address-per-minute", "0"], "--address-per-minute must be a whole number"],
    [["serve", "--trusted-proxies", "10.0.0.0/64"], "trusted proxy '10.0.0.0/64'"],
    [["serve", "--trusted-proxies", "10.0.0.0/"], "trusted proxy '10.0.0.0/' is no address"],
    [["serve", "--trusted-proxies", "10.0.0.0/8/8"], "trusted proxy '10.0.0.0/8/8' is no address"],
    [["serve", "--cors-origins", "https://shop.example/"], "--cors-origins must be origins"],
    [["serve", "--cors-origins", "shop.example"], "--cors-origins must be origins"],
    [["serve", "--cors-origins", "https://a.example,null"], "--cors-origins must be origins"],
    [["keys", "create", "--plan", "free"], "--name is required"],
    [["keys", "create", "--name", "a\tb", "--plan", "free"], "--name must be one line"],
    [["keys", "create", "--name", "a"], "--plan must be one of"],
    [["keys", "create", "--name", "a", "--plan", "toString"], "--plan must be one of"],
    [["keys", "create", "--name", "a", "--plan", "enterprise"], "--per-minute is required"],
    [
      ["keys", "create", "--name", "a", "--plan", "free", "--per-day", "5"],
      "--per-minute and --per-day go with the plan enterprise only",
    ],
    [["keys", "create", "--name", "a", "--plan", "free", "--scopes", "all"], "--scopes takes"],
    [["keys", "create", "--name", "a", "--plan", "free", "--scopes", ""], "--scopes takes"],
    [["keys", "create", "--name", "a", "--plan", "free", "--expires", "2027-02-31"], "--expires"],
    [
      ["keys", "create", "--name", "a", "--plan", "free", "--expires", "2027-01-31T10:00:00"],
      "--expires must be a date in the future",
    ],
    [["keys", "create", "--name", "a", "--plan", "free", "--expires", "2001-01-01"], "--expires"],
    [["keys", "create", "a", "--plan", "free"], "this command takes no further words"],
    [["keys", "show"], "this command takes ID"],
    [["keys", "show", "key_none"], "there is no key key_none"],
    [["keys", "rotate", "key_none"], "there is no key key_none"],
    [["keys", "revoke", "key_none"], "there is no key key_none"],
    [["keys", "unban", "key_none"], "there is no key key_none"],
    [["pets", "import"], "this command takes FILE"],
    [["pets", "import", "none.csv"], "cannot read none.csv: there is no such file"],
    [["pets", "import", "pets.xml"], "pets.xml: the format must be one of csv, ndjson, json"],
    [["pets", "import", "-", "--format", "xml"], "the format must be one of csv, ndjson, json"],
    [["pets", "export", "none/pets.csv"], "cannot write none/pets.csv: there is no such folder"],
    [
      ["pets", "export", "/dev/full", "--format", "csv"],
      "cannot write /dev/full: no space is left",
    ],
    [["orders", "export", "a.csv"], "there is no command 'orders export'"],
    [["verify", "all"], "this command takes no further words"],
  ];
  for (const [words, sentence] of cases) {
    test(`petstore ${words.join(" ")}`, async () =>
      expectRefused(await place.run(words), sentence));
  }

  test("a database that cannot be opened, is no database or is somebody else's", async () => {
    writeFileSync(place.path("text.db"), "hello\n".repeat(1000));
    mkdirSync(place.path("folder.db"));
    const other = `CREATE TABLE songs (title TEXT)`;
    const { Database } = await import("bun:sqlite");
    new Database(place.path("songs.db"), { create: true }).run(other);
    for (const [database, sentence] of [
      ["sqlite:text.db", "not a petstore database"],
      ["sqlite:folder.db", "cannot be opened"],
      ["sqlite:text.db/below.db", "text.db"],
      ["sqlite:songs.db", "not a petstore database"],
    ] as const) {
      expectRefused(await place.run(["verify", "--database", database]), sentence);
      expectRefused(await place.run(["serve", "--database", database, "--port", "0"]), "");
    }
  });

  test("a service that cannot open what lies beside its database", async () => {
    mkdirSync(place.path("beside/shop.db-changes"), { recursive: true });
    const words = ["serve", "--port", "0", "--database", "sqlite:./beside/shop.db"];
    expectRefused(await place.run(words), "shop.db-changes");
  });

  test("what was to be printed, when nobody reads it any more", async () => {
    const command = ["sh", "-c", `{ "${petstore}" "$@"; echo "code $?" >&2; } | true`, "sh"];
    const { err } = await place.run(["keys", "list"], { command });
    // Whether the reader left before the writing is up to the machine.
    expect(err).toBeOneOf([
      "code 0\n",
      "petstore: what was to be printed found no reader\ncode 2\n",
    ]);
  });

  test("a database of the other environment", async () => {
    const database = ["--database", "sqlite:./environments.db"];
    expect((await place.run(["verify", ...database])).code).toBe(0);
    expectRefused(
      await place.run(["keys", "list", ...database, "--env", "staging"]),
      "the database belongs to the production environment, not to staging",
    );
  });
});

describe("settings", () => {
  test("come from flags or the environment, and the flag wins", async () => {
    const env = { PETSTORE_ENV: "staging", DATABASE_URL: "sqlite:./from-variable.db" };
    const create = ["keys", "create", "--name", "a", "--plan", "free", "--json"];
    const byVariable = await place.run(create, { env });
    expect(JSON.parse(byVariable.out).key).toStartWith("psk_test_");
    const flags = ["--env", "production", "--database", "sqlite:./from-flag.db"];
    const byFlag = await place.run([...create, ...flags], { env });
    expect(JSON.parse(byFlag.out).key).toStartWith("psk_live_");
    expectRefused(
      await place.run(["keys", "list"], { env: { ...env, PETSTORE_ENV: "moon" } }),
      "PETSTORE_ENV must be production or staging, not 'moon'",
    );
  });

  test("are not taken from a .env or bunfig.toml that happens to lie about", async () => {
    const elsewhere = enterPlace();
    try {
      writeFileSync(elsewhere.path(".env"), "PETSTORE_ENV=moon\n");
      writeFileSync(elsewhere.path("bunfig.toml"), 'preload = ["./loud.ts"]\n');
      writeFileSync(elsewhere.path("loud.ts"), 'console.log("loud")');
      expect(await elsewhere.run(["keys", "list", "--json"])).toEqual({
        code: 0,
        out: "[]\n",
        err: "",
      });
    } finally {
      await elsewhere.leave();
    }
  });
});

test("bin/petstore runs through links from anywhere, relative ones too, and with a CDPATH", async () => {
  mkdirSync(place.path("links/deeper"), { recursive: true });
  mkdirSync(place.path("trap/bin"), { recursive: true });
  symlinkSync(petstore, place.path("links/direct"));
  symlinkSync("../direct", place.path("links/deeper/relative"));
  const expected = await place.run([]);
  const env = { CDPATH: place.path("trap") };
  for (const link of ["./links/direct", "links/deeper/relative", place.path("links/direct")]) {
    expect(await place.run([], { command: [link], env })).toEqual(expected);
  }
  expect(await place.run([], { command: ["sh", "links/deeper/relative"], env })).toEqual(expected);
});

test("many commands at once on a database that is not there yet all succeed", async () => {
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
  const all = await Promise.all(Array.from({ length: 6 }, (_, at) => create(at)));
  expect(all.map((ran) => ran.err).join("")).toBe("");
  const keys = await place.json<unknown[]>("keys", "list", "--database", "sqlite:new/x.db");
  expect(keys).toHaveLength(6);
});
