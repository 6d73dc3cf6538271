import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { topics } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/commands.ts";
import { parseArguments } from "../../src/cli/flags.ts";
import { synopsisOf } from "../../src/cli/help.ts";
import { findCommand, helpFor } from "../../src/cli/run.ts";
import { readConfig } from "../../src/config.ts";
import { settings } from "../../src/settings.ts";
import { openWorkspace } from "../support/process.ts";
import { expectUsageError } from "../support/usage-errors.ts";

const place = openWorkspace();
afterAll(() => place.leave());

const root = new URL("../..", import.meta.url);
const readRoot = (path: string) => readFileSync(new URL(path, root), "utf8");

describe("petstore --help", () => {
  test("is printed to standard output without arguments, for help, and for an unknown command", async () => {
    const shown = await place.run(["--help"]);
    expect(shown).toMatchObject({ code: 0, err: "" });
    expect(await place.runHere([])).toEqual(shown);
    for (const args of [["help"], ["help", "-h"], ["fly", "--help"], ["-h"]]) {
      expect(helpFor(args)).toBe(shown.out);
    }
  });

  test("lists every command once, below its topic, and says where the settings are", () => {
    const lines = helpFor([]).split("\n");
    for (const { name, operands, topic } of commands) {
      const row = `  ${[name, ...operands.map((operand) => operand.name)].join(" ")}  `;
      const [at, ...others] = lines.keys().filter((index) => lines[index]!.startsWith(row));
      expect(others).toEqual([]);
      const title = lines.slice(0, at).findLast((line) => line.endsWith(":"));
      expect(title).toBe(`${topics[topic]}:`);
    }
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}petstore help settings /));
    expect(lines.join("\n")).not.toContain("--port");
  });
});

test("petstore help settings lists every setting with its variable and default", () => {
  const text = unwrapped(helpFor(["help", "settings"]));
  for (const { flag, variable, default: initial } of Object.values(settings)) {
    const row = text.split("\n").find((line) => line.startsWith(`  --${flag} `));
    expect(row).toEndWith(initial === "" ? `[${variable}]` : `[${variable}, default ${initial}]`);
  }
});

test("no line of help is longer than 100 columns, ends in a space or has Markdown in it", () => {
  const pages = [[], ["settings"], ["exit-codes"], ...commands.map(({ name }) => name.split(" "))];
  for (const page of pages) {
    for (const line of helpFor(["help", ...page]).split("\n")) {
      expect(line.length).toBeLessThanOrEqual(100);
      expect(line).not.toMatch(/ $|`/);
    }
  }
});

/** Joins the lines of a cell to one line, and its spaces to one space. */
function unwrapped(text: string): string {
  return text.replaceAll(/\n {6,}/g, " ").replaceAll(/(\S) {2,}/g, "$1 ");
}

describe("help for one command", () => {
  test("has its usage, operands, flags, settings and examples", () => {
    for (const command of commands) {
      const words = command.name.split(" ");
      const shown = helpFor(["help", ...words]);
      const text = unwrapped(shown);
      expect(text).toContain(`\nUsage: ${synopsisOf(command)}\n`);
      const described = [
        ...command.operands.map(({ name, description }) => [name, description]),
        ...Object.entries(command.flags).map(([name, flag]) => [`--${name}`, flag.description]),
        ...command.settings.map((name) => [`--${settings[name].flag}`, settings[name].variable]),
      ];
      for (const [name, description] of described) {
        const rows = text.split("\n").filter((line) => line.startsWith(`  ${name} `));
        expect(rows.map((row) => row.includes(description!))).toEqual([true]);
      }
      expect(command.examples.length).toBeWithin(1, 3);
      for (const example of command.examples) expect(shown).toContain(`\n  ${example}\n`);
      // Other arguments do not matter.
      for (const flag of ["--help", "-h"]) {
        expect(helpFor([...words, flag])).toBe(shown);
        expect(helpFor([...words, "x", "--colour", flag])).toBe(shown);
      }
    }
  });

  test("its examples are accepted by the command", () => {
    for (const command of commands) {
      for (const example of command.examples) {
        const [program, ...words] = example.split(" ");
        expect(program).toBe("petstore");
        expect(findCommand(words)).toBe(command);
        const { settings: given } = parseArguments(
          command,
          words.slice(command.name.split(" ").length),
        );
        expect(() => readConfig(given, {})).not.toThrow();
      }
    }
  });

  test("is printed instead of running the command", async () => {
    const ran = await place.runHere(["keys", "create", "--plan", "free", "--name", "a", "-h"]);
    expect(ran).toEqual({ code: 0, out: helpFor(["help", "keys", "create"]), err: "" });
    expect(readdirSync(place.folder)).not.toContain("data");
  });

  test("a first word that commands share prints those commands", () => {
    const shown = helpFor(["help", "keys"]);
    const names = [...shown.matchAll(/^ {2}(\w+ \w+)/gm)].map(([, name]) => name);
    const keys = commands.filter(({ name }) => name.startsWith("keys "));
    expect(names).toEqual(keys.map(({ name }) => name));
    expect(helpFor(["keys", "--help"])).toBe(shown);
  });

  test("an unknown command is an error", async () => {
    expectUsageError(await place.runHere(["help", "fly"]), "unknown command 'fly'");
    expect(() => helpFor(["help", "__proto__"])).toThrow("unknown command '__proto__'");
  });
});

test("petstore --version prints the version of the package", async () => {
  const { version } = JSON.parse(readRoot("package.json")) as { version: string };
  expect(await place.runHere(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
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

/** Commands without --json, each with the reason. */
const withoutJson: Record<string, string> = {
  serve: "prints its address, for supervisors",
  quickstart: "prints its address and a welcome",
  "pets export": "writes the format that --format names",
  completion: "prints a script",
  "orders export": "writes the format that --format names",
};

test("every command that prints data has --json", () => {
  const missing = commands.filter(({ flags }) => !("json" in flags)).map(({ name }) => name);
  expect(missing.sort()).toEqual(Object.keys(withoutJson).sort());
});
