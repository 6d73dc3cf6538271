import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandLine } from "../../src/command-lines.ts";
import { openWorkspace } from "../support/process.ts";

const place = openWorkspace();
afterAll(() => place.leave());

/** The arguments that a shell makes of the first command line in a text, without the program. */
async function wordsOf(text: string): Promise<readonly string[]> {
  const [line] = /(?<![.\w])petstore [a-z].*/.exec(text) ?? [];
  if (line === undefined) throw new Error(`no command line in: ${text}`);
  const script = `petstore() { printf '%s\\n' "$@"; }; ${line.replace(/(?:\.|; a new store .*)$/, "")}`;
  const { out } = await place.run(["-c", script], { command: ["sh"] });
  return out.trimEnd().split("\n");
}

test("a printed command line has the settings that were given, and works in a shell", async () => {
  const folder = "it's $HOME; a `shop`";
  mkdirSync(place.path(folder));
  const config = `${folder}/pet store.toml`;
  const database = `sqlite:./${folder}/staging.db`;
  writeFileSync(place.path(config), `database = "${database}"\n`);
  const given = ["--config", config, "--env", "staging"];
  const run = async (words: readonly string[]) => {
    const ran = await place.runHere([...words, ...given]);
    expect(ran).toMatchObject({ code: 0 });
    return ran.out;
  };

  await run(["keys", "create", "--name", "till", "--plan", "pro", "--scopes", "pets:read"]);
  const webhooks = await wordsOf(await run(["webhooks", "list"]));
  expect(webhooks).toEqual(["webhooks", "create", ...given]);

  const backup = `${folder}/a backup.petstore`;
  const drill = await wordsOf(await run(["backup", backup]));
  expect(drill).toEqual(["drill", backup, ...given]);
  expect(await place.runHere(drill)).toMatchObject({ code: 0 });

  const restored = await run(["restore", backup, "--database", `sqlite:${folder}/new.db`]);
  const serve = await wordsOf(restored);
  expect(serve).toEqual(["serve", ...given, "--database", `sqlite:${folder}/new.db`]);
  expect(await place.runHere(["verify", ...serve.slice(1)])).toMatchObject({ code: 0 });

  const lost = ["--database", `sqlite:${folder}/lost.db`, "--backup-folder", folder];
  const stored = join(folder, "staging-20261116T100000Z.petstore");
  await run(["backup", stored]);
  const refused = await place.runHere(["serve", "--port", "0", ...given, ...lost]);
  expect(refused.code).toBe(2);
  const restore = await wordsOf(refused.err);
  expect(restore).toEqual(["restore", place.path(stored), ...given, ...lost.slice(0, 2)]);
  expect(await place.runHere(restore)).toMatchObject({ code: 0 });
});

test("a hint about an encrypted backup names the file of its key", async () => {
  const given = [
    "--database",
    `sqlite:${place.path("encrypted.db")}`,
    "--backup-key-file",
    "my.key",
  ];
  writeFileSync(place.path("my.key"), "0a".repeat(32));
  await place.runHere(["keys", "create", "--name", "a", "--plan", "free", ...given]);
  const { out } = await place.runHere(["backup", "encrypted.petstore", ...given]);
  const drill = await wordsOf(out);
  expect(drill).toEqual(["drill", "encrypted.petstore", ...given]);
  expect(await place.runHere(drill)).toMatchObject({ code: 0 });
});

test("the address of a server, which may have a password, is not repeated", () => {
  const given = { database: "postgres://ann:secret@db/shop", port: "80" };
  const line = commandLine({ given }, ["serve"]);
  expect(line).toBe("petstore serve --database THE_SAME_ADDRESS");
});

test("every command line with a value in it is made in one place", () => {
  const folder = join(import.meta.dir, "../../src");
  const paths = ["cli", "compose", "store", "backup", "config", "."].flatMap((part) =>
    readdirSync(join(folder, part), { recursive: part !== ".", encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(folder, part, name)),
  );
  // Names of commands in examples, other sentences, and the first line of a backup.
  const others = /\$\{(?:verb|current|where|format)\}/;
  const found = paths.flatMap((path) => {
    const text = readFileSync(path, "utf8");
    const all = text.match(/\bpetstore (?!help )[a-z][a-z -]*\$\{\w+\}/g) ?? [];
    return all.filter((line) => !others.test(line));
  });
  expect(found).toEqual([]);
});
