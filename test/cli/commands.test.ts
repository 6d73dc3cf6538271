import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { openWorkspace, petstore } from "../support/process.ts";
import { createStore } from "../support/stocking.ts";
import { expectUsageError } from "../support/usage-errors.ts";

const place = openWorkspace();
beforeAll(() => createStore(`sqlite:${place.path("data/production.db")}`));
afterAll(() => place.leave());

describe("a command that fails prints one line and exits with code 2", () => {
  const cases: [words: string[], sentence: string][] = [
    [["fly"], "unknown command 'fly'; see petstore --help"],
    [
      ["keys"],
      "'keys' needs a second word: create, list, show, rotate, revoke, unban; see petstore help keys",
    ],
    [["toString"], "unknown command 'toString'"],
    [["__proto__"], "unknown command '__proto__'"],
    [["serve", "now"], "unexpected operand 'now'; see petstore help serve"],
    [["serve", "--colour"], "unknown flag '--colour'; see petstore help serve"],
    [["serve", "--colour.red"], "unknown flag '--colour.red'"],
    [["serve", "-p"], "unknown flag '-p'"],
    [["serve", "--port"], "--port needs a value; see petstore help serve"],
    [["serve", "--port", "--json"], "--port needs a value; write --port=VALUE"],
    [["serve", "--json"], "unknown flag '--json'"],
    [["verify", "--json=yes"], "--json does not take a value"],
    [["serve", "--port", "99999"], "--port must be a port from 0 to 65535, not '99999'"],
    [["serve", "--env", "moon"], "--env must be production or staging, not 'moon'"],
    [["serve", "--database", "mysql://x"], "--database must be sqlite:PATH or postgres://"],
    [["verify", "--database", "sqlite://data/shop.db"], "--database must be sqlite:PATH"],
    [["serve", "--backup-folder", "s3:/shop"], "--backup-folder must be a folder, or a bucket as"],
    [["serve", "--backup-folder", "https://a.example/b"], "--backup-folder must be a folder, or"],
    [["backup", "https://a.example/b.petstore"], "a bucket is s3://BUCKET/PREFIX, a backup"],
    [["backup", "s3://backups/shop/"], "a bucket is s3://BUCKET/PREFIX, a backup in it s3://…"],
    [["backup", "s3://backups/shop"], "a bucket is s3://BUCKET/PREFIX, a backup in it s3://…"],
    [["serve", "--pets-sunset", "2027-02-31"], "--pets-sunset must be a time"],
    [["serve", "--pets-sunset", "5"], "--pets-sunset must be a time"],
    [
      ["serve", "--pets-sunset", "2025-12-31T23:59:59Z"],
      "--pets-sunset must not be before 2026-01-01T00:00:00Z, when the operation was deprecated",
    ],
    [
      ["serve", "--address-per-minute", "0"],
      "--address-per-minute must be an integer from 1 to 999999999",
    ],
    [
      ["serve", "--writes-waiting-max", "999"],
      "--writes-waiting-max must be an integer from 1000 to 999999999, because a batch can have 1000 changes, not '999'",
    ],
    [["serve", "--trusted-proxies", "10.0.0.0/64"], "--trusted-proxies must be addresses or net"],
    [["serve", "--trusted-proxies", "10.0.0.0/"], "such as 10.0.0.0/8, separated by commas, not"],
    [["serve", "--trusted-proxies", "10.0.0.0/8/8"], "--trusted-proxies must be addresses or net"],
    [["serve", "--prot", "1"], "unknown flag '--prot'; did you mean --port?"],
    [["serve", "-port=1"], "unknown flag '-port'; did you mean --port?"],
    [["verify", "--databse=sqlite:a.db"], "unknown flag '--databse'; did you mean --database?"],
    [["verfiy"], "unknown command 'verfiy'; did you mean verify?"],
    [["keys", "lst"], "unknown command 'keys lst'; did you mean keys list?"],
    [["kyes", "list", "--json"], "unknown command 'kyes'; did you mean keys list?"],
    [["serve", "--cors-origins", "https://shop.example/"], "--cors-origins must be origins"],
    [["serve", "--cors-origins", "shop.example"], "--cors-origins must be origins"],
    [["serve", "--cors-origins", "https://a.example,null"], "--cors-origins must be origins"],
    [["keys", "create", "--plan", "free"], "--name is required; usage: petstore keys create"],
    [["keys", "create", "--plan", "free", "--name", ""], "--name is required"],
    [
      ["keys", "create", "--plan", "free", "--name", " "],
      "--name is required and must not have more",
    ],
    [["keys", "create", "--plan", "free", "--name", "x".repeat(201)], "more than 200 characters"],
    [
      ["keys", "create", "--name", "a\tb", "--plan", "free"],
      "--name must not contain control characters",
    ],
    [
      ["keys", "create", "--name", "a\ud800b", "--plan", "free"],
      "--name must not contain a lone surrogate",
    ],
    [["keys", "create", "--name", "a"], "--plan is required without --operator"],
    [
      ["keys", "create", "--name", "a", "--plan", "pro", "--role", "clerk"],
      "--role is allowed only with --operator",
    ],
    [
      ["keys", "create", "--name", "a", "--operator", "--role", "king"],
      "--role must be one of viewer, clerk, owner",
    ],
    [["keys", "create", "--name", "a", "--plan", "toString"], "--plan must be one of"],
    [["keys", "create", "--name", "a", "--plan", "enterprise"], "--per-minute is required"],
    [
      ["keys", "create", "--name", "a", "--plan", "free", "--per-day", "5"],
      "--per-day is allowed only for the plan enterprise",
    ],
    [["keys", "create", "--name", "a", "--plan", "free", "--scopes", "all"], "--scopes must list"],
    [["keys", "create", "--name", "a", "--plan", "free", "--scopes", ""], "--scopes must list"],
    [["keys", "create", "--name", "a", "--plan", "free", "--expires", "2027-02-31"], "--expires"],
    [
      ["keys", "create", "--name", "a", "--plan", "free", "--expires", "2027-01-31T10:00:00"],
      "--expires must be a time in the future",
    ],
    [["keys", "create", "--name", "a", "--plan", "free", "--expires", "2001-01-01"], "--expires"],
    [["keys", "create", "a", "--plan", "free"], "unexpected operand 'a'"],
    [["keys", "show"], "ID is required; usage: petstore keys show ID [--json]"],
    [["keys", "show", "key_none"], "there is no key key_none"],
    [["keys", "rotate", "key_none"], "there is no key key_none"],
    [["keys", "revoke", "key_none"], "there is no key key_none"],
    [["keys", "unban", "key_none"], "there is no key key_none"],
    [["pets", "import"], "FILE is required; usage: petstore pets import FILE"],
    [["pets", "import", "none.csv"], "cannot read none.csv: no such file"],
    [["pets", "import", "pets.xml"], "the extension of pets.xml must be one of csv, ndjson, json"],
    [["pets", "import", "-", "--format", "xml"], "--format must be one of csv, ndjson, json"],
    [["pets", "export", "none/pets.csv"], "cannot write none/pets.csv: no such folder"],
    [
      ["pets", "export", "/dev/full", "--format", "csv"],
      "cannot write /dev/full: no space left on the device",
    ],
    [["verify", "all"], "unexpected operand 'all'"],
    [["migrate-store", "--to", "sqlite:b.db"], "--from is required; usage: petstore migrate-store"],
    [["migrate-store", "--from", "sqlite:a.db", "--to", "sqlite:a.db"], "must be different"],
  ];
  for (const [words, sentence] of cases) {
    test(`petstore ${words.join(" ").slice(0, 80)}`, async () =>
      expectUsageError(await place.runHere(words), sentence));
  }

  test("a database that cannot be opened, is not a database or has another program's tables", async () => {
    writeFileSync(place.path("text.db"), "hello\n".repeat(1000));
    mkdirSync(place.path("folder.db"));
    const other = `CREATE TABLE songs (title TEXT)`;
    const { Database } = await import("bun:sqlite");
    new Database(place.path("songs.db"), { create: true }).run(other);
    for (const [database, sentence] of [
      ["sqlite:text.db", "not a petstore database"],
      ["sqlite:folder.db", "folder.db"],
      ["sqlite:text.db/below.db", "text.db"],
      ["sqlite:songs.db", "not a petstore database"],
    ] as const) {
      const ran = await place.runHere(["verify", "--database", database]);
      expectUsageError(ran, sentence);
      expect(ran.err).toContain(place.path(database.slice("sqlite:".length)));
      const serve = ["serve", "--database", database, "--port", "0"];
      expectUsageError(await place.runHere(serve), sentence);
    }
    // As a process too, which must end.
    const serve = ["serve", "--database", "sqlite:songs.db", "--port", "0"];
    expectUsageError(await place.run(serve), "not a petstore database");
  });

  test("a store that the disk has no room to open, with the reason", async () => {
    await place.runHere(["keys", "create", "--name", "a", "--plan", "free"]);
    const command = ["sh", "-c", `ulimit -f 0; exec "${petstore}" "$@"`, "sh"];
    const sentence = `cannot open the store ${place.path("data/production.db")}: the disk reports an error (`;
    expectUsageError(await place.run(["verify"], { command }), sentence);
  });

  test("a service that cannot open a file next to its database", async () => {
    mkdirSync(place.path("beside/shop.db-changes"), { recursive: true });
    const words = ["serve", "--port", "0", "--database", "sqlite:./beside/shop.db"];
    expectUsageError(await place.runHere(words), "shop.db-changes");
  });

  test("a database of the other environment", async () => {
    const database = ["--database", "sqlite:./environments.db"];
    await createStore(`sqlite:${place.path("environments.db")}`);
    expectUsageError(
      await place.runHere(["keys", "list", ...database, "--env", "staging"]),
      "the database belongs to the production environment, not to staging",
    );
  });
});

describe("settings", () => {
  test("come from flags or the environment, and the flag takes precedence", async () => {
    const env = { PETSTORE_ENV: "staging", DATABASE_URL: "sqlite:./from-variable.db" };
    const create = ["keys", "create", "--name", "a", "--plan", "free", "--json"];
    const byVariable = await place.runHere(create, { env });
    expect(JSON.parse(byVariable.out).key).toStartWith("psk_test_");
    const flags = ["--env", "production", "--database", "sqlite:./from-flag.db"];
    const byFlag = await place.runHere([...create, ...flags], { env });
    expect(JSON.parse(byFlag.out).key).toStartWith("psk_live_");
    expectUsageError(
      await place.runHere(["keys", "list"], { env: { ...env, PETSTORE_ENV: "moon" } }),
      "PETSTORE_ENV must be production or staging, not 'moon'",
    );
  });

  test("a misspelt variable is refused with the nearest name, and one of Kubernetes is ignored", async () => {
    const run = (name: string, value = "1") =>
      place.runHere(["verify"], { env: { [name]: value } });
    expectUsageError(
      await run("PETSTORE_PROT"),
      "unknown variable PETSTORE_PROT; did you mean PORT?",
    );
    expectUsageError(await run("PETSTORE_LOG_LEVLE"), "did you mean PETSTORE_LOG_LEVEL?");
    expectUsageError(await run("PETSTORE_DATABASE_URL"), "did you mean DATABASE_URL?");
    expectUsageError(
      await run("PETSTORE_MOON"),
      "unknown variable PETSTORE_MOON; see petstore --help",
    );
    expect((await run("PETSTORE_PORT", "tcp://10.0.0.1:80")).code).toBe(0);
    expect((await run("PETSTORE_SERVICE_HOST", "10.0.0.1")).code).toBe(0);
  });

  test("are not read from .env or bunfig.toml in the current folder", async () => {
    const elsewhere = openWorkspace();
    try {
      writeFileSync(elsewhere.path(".env"), "PETSTORE_ENV=moon\n");
      writeFileSync(elsewhere.path("bunfig.toml"), 'preload = ["./loud.ts"]\n');
      writeFileSync(elsewhere.path("loud.ts"), 'console.log("loud")');
      const stdin = '{"petId":1,"name":"Rex"}';
      expect(await elsewhere.run(["pets", "import", "-"], { stdin })).toEqual({
        code: 0,
        out: "Imported pets: 1 created, 0 changed, 0 unchanged.\n",
        err: `petstore: created the store ${elsewhere.path("data/production.db")}\n`,
      });
    } finally {
      await elsewhere.leave();
    }
  });
});
