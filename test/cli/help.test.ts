import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { withTables } from "../../scripts/operating-tables.ts";
import { commands } from "../../src/cli/commands.ts";
import { synopsisOf } from "../../src/cli/help.ts";
import { settings } from "../../src/settings.ts";
import { expectUsageError, openWorkspace } from "../support/process.ts";

const place = openWorkspace();
afterAll(() => place.leave());

const root = new URL("../..", import.meta.url);
const readRoot = (path: string) => readFileSync(new URL(path, root), "utf8");

describe("petstore --help", () => {
  test("is printed without arguments, for help, and for --help with an unknown command", async () => {
    const shown = await place.run(["--help"]);
    expect(shown).toMatchObject({ code: 0, err: "" });
    for (const args of [[], ["help"], ["help", "--help"], ["fly", "--help"]]) {
      expect(await place.run(args)).toEqual(shown);
    }
  });

  test("lists every command and every setting with its variable and default", async () => {
    const { out } = await place.run(["--help"]);
    for (const { name, operands } of commands) {
      const line = [name, ...operands.map((operand) => operand.name)].join(" ");
      expect(out).toContain(`\n  ${line}  `);
    }
    for (const setting of Object.values(settings)) {
      const line = out.split("\n").find((text) => text.startsWith(`  --${setting.flag} `));
      expect(line).toContain(` ${setting.variable} `);
      if (setting.default !== "") expect(line).toEndWith(` [${setting.default}]`);
    }
    expect(out).not.toContain("`");
  });
});

describe("help for one command", () => {
  for (const command of commands) {
    test(`petstore ${command.name}: its usage, operands, flags and settings`, async () => {
      const words = command.name.split(" ");
      const shown = await place.run(["help", ...words]);
      expect(shown).toMatchObject({ code: 0, err: "" });
      expect(shown.out).toContain(`\nUsage: ${synopsisOf(command)}\n`);
      const described = [
        ...command.operands.map(({ name, description }) => [name, description]),
        ...Object.entries(command.flags).map(([name, flag]) => [`--${name}`, flag.description]),
        ...command.settings.map((name) => [`--${settings[name].flag}`, settings[name].variable]),
      ];
      for (const [name, text] of described) {
        const lines = shown.out.split("\n").filter((line) => line.startsWith(`  ${name} `));
        expect(lines.map((line) => line.includes(text!))).toEqual([true]);
      }
      expect(await place.run([...words, "--help"])).toEqual(shown);
      // Other arguments do not matter, and the command does not run.
      expect(await place.run([...words, "x", "--colour", "--help"])).toEqual(shown);
    });
  }

  test("a first word that commands share prints those commands", async () => {
    const shown = await place.run(["help", "keys"]);
    const names = shown.out
      .trimEnd()
      .split("\n")
      .map((line) => /^ {2}(\w+ \w+)/.exec(line)![1]!);
    const keys = commands.filter(({ name }) => name.startsWith("keys "));
    expect(names).toEqual(keys.map(({ name }) => name));
    expect(await place.run(["keys", "--help"])).toEqual(shown);
  });

  test("an unknown command is an error", async () => {
    expectUsageError(await place.run(["help", "fly"]), "unknown command 'fly'");
    expectUsageError(await place.run(["help", "__proto__"]), "unknown command '__proto__'");
  });
});

test("petstore --version prints the version of the package", async () => {
  const { version } = JSON.parse(readRoot("package.json")) as { version: string };
  expect(await place.run(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
});

test("no two commands and no two flags of a command have the same name", () => {
  const settingFlags = Object.values(settings).map(({ flag }) => flag);
  expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length);
  expect(new Set(settingFlags).size).toBe(settingFlags.length);
  expect(new Set(Object.values(settings).map(({ variable }) => variable)).size).toBe(
    settingFlags.length,
  );
  for (const { flags } of commands) {
    expect(Object.keys(flags).filter((name) => settingFlags.includes(name))).toEqual([]);
  }
});

describe("the table in docs/operating.md", () => {
  const page = readRoot("docs/operating.md");

  test("is generated from the code", () => {
    expect(withTables(page)).toBe(page);
  });

  test("is replaced if it differs, and the rest of the page is not changed", () => {
    const changed = page.replace(/\n\| `petstore verify.*/, "");
    expect(changed).not.toBe(page);
    expect(withTables(changed)).toBe(page);
  });

  test("cannot be generated into a page without its comments", () => {
    expect(() => withTables("# Operating\n")).toThrow("no comments for the table of commands");
  });
});
