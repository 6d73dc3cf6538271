import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { commands } from "../../src/cli/commands.ts";
import { completionScript, shells } from "../../src/cli/completion/completion.ts";
import { planNames } from "../../src/domain/limits/plans.ts";
import { settings } from "../../src/settings.ts";
import { openWorkspace } from "../support/process.ts";
import { expectUsageError } from "../support/usage-errors.ts";

const place = openWorkspace();
afterAll(() => place.leave());

test("the command prints the script of a shell, and names the shells that it knows", async () => {
  const ran = await place.runHere(["completion", "bash"]);
  expect(ran).toEqual({ code: 0, out: completionScript("bash", commands), err: "" });
  expectUsageError(
    await place.runHere(["completion", "tcsh"]),
    "SHELL must be one of bash, zsh, fish, not 'tcsh'",
  );
});

describe("in bash", () => {
  /** What bash offers after each of these lines, of which the last word is incomplete. */
  async function offered(...lines: readonly (readonly string[])[]): Promise<string[][]> {
    writeFileSync(place.path("petstore.bash"), completionScript("bash", commands));
    // The words as bash splits them: a sign of equality is a word.
    const calls = lines.map((words) => {
      const split = ["petstore", ...words].flatMap((word) => word.split(/(?<==)|(?==)/));
      const quoted = split.map((word) => `'${word}'`).join(" ");
      return `COMP_WORDS=(${quoted}); COMP_CWORD=${split.length - 1}; COMPREPLY=(x)
        _petstore 2>/dev/null; echo "\${COMPREPLY[*]}"`;
    });
    const script = `set -u; source petstore.bash\n${calls.join("\n")}`;
    const ran = await place.run(["--norc", "-c", script], { command: ["bash"] });
    expect(ran).toMatchObject({ code: 0, err: "" });
    const rows = ran.out.split("\n").slice(0, -1);
    return rows.map((row) => row.split(" ").filter(Boolean));
  }

  test("commands, flags, values and files are completed", async () => {
    mkdirSync(place.path("folder"));
    writeFileSync(place.path("folder/pets.csv"), "");
    const [first, keys, sub, help, flags, plans, joined, env, levels, file, shell, free] =
      await offered(
        [""],
        ["key"],
        ["keys", "r"],
        ["help", "webhooks", "re"],
        ["keys", "rotate", "--"],
        ["keys", "create", "--plan", ""],
        ["keys", "create", "--plan=b"],
        ["verify", "--env", "s"],
        ["serve", "--log-level", ""],
        ["pets", "import", "folder/p"],
        ["completion", ""],
        ["keys", "create", "--name", ""],
      );
    const words = [...new Set(commands.map(({ name }) => name.split(" ")[0]!))];
    expect(first).toEqual([...words, "help", "--help", "--version"]);
    expect(keys).toEqual(["keys"]);
    expect(sub).toEqual(["rotate", "revoke"]);
    expect(help).toEqual(["resume", "replay", "resend"]);
    expect(flags).toEqual(["--overlap", "--json", "--config", "--env", "--database", "--help"]);
    expect(plans).toEqual([...planNames]);
    expect(joined).toEqual(["business"]);
    expect(env).toEqual(["staging"]);
    expect(levels).toEqual(["debug", "info", "warn", "error"]);
    expect(file).toEqual(["folder/pets.csv"]);
    expect(shell).toEqual([...shells]);
    expect(free).toEqual([]);
  });

  test("every flag of every command is completed", async () => {
    const lines = commands.map(({ name }) => [...name.split(" "), "--"]);
    const all = await offered(...lines);
    for (const [at, command] of commands.entries()) {
      const own = Object.keys(command.flags).map((flag) => `--${flag}`);
      const set = command.settings.map((name) => `--${settings[name].flag}`);
      expect(all[at]).toEqual([...own, ...set, "--help"]);
    }
  });
});

// Neither zsh nor fish is needed to run the tests, so only the structure of their scripts is checked.
describe.each(["zsh", "fish"] as const)("the script for %s", (shell) => {
  const script = completionScript(shell, commands);

  test("names every command and every flag, and all values of an enumeration", () => {
    for (const { name, flags, settings: names } of commands) {
      const rows = rowsOf(name);
      const own = Object.keys(flags);
      for (const flag of [...own, ...names.map((one) => settings[one].flag), "help"]) {
        expect(rows).toContain(shell === "fish" ? ` -l ${flag} ` : `'--${flag}:`);
      }
    }
    const plan = rowsOf("keys create");
    expect(plan).toContain(
      shell === "fish" ? "-l plan -x -a 'free pro business enterprise'" : `--plan) compadd -- free`,
    );
    expect(rowsOf("pets import")).toContain(shell === "fish" ? " -F\n" : "else _files");
  });

  test("closes every quote and every block", () => {
    const bare = withoutQuotes(script);
    expect(bare).not.toContain("'");
    const count = (word: RegExp) => [...bare.matchAll(word)].length;
    if (shell === "fish") {
      expect(count(/^\s*(?:function|for|if) /gm)).toBe(count(/^\s*end$/gm));
    } else {
      expect(count(/\bcase .* in$/gm)).toBe(count(/\besac$/gm));
      expect(count(/(?:^|\s)if /g)).toBe(count(/(?:^|\s)fi\b/g));
    }
  });

  /** The part of the script for one command. */
  function rowsOf(name: string): string {
    if (shell === "fish") {
      const rows = script.split("\n").filter((row) => row.includes(`'__petstore_is "${name}"'`));
      return `${rows.join("\n")}\n`;
    }
    const start = script.search(new RegExp(`\n    '?${name}'?\\)\n`));
    expect(start).toBeGreaterThan(0);
    return script.slice(start, script.indexOf("fi ;;", start));
  }

  /** The script without comments and quoted texts. */
  function withoutQuotes(text: string): string {
    const quote = shell === "fish" ? /'(?:\\.|[^'\\])*'/g : /'[^']*'/g;
    return text
      .replaceAll(/^\s*#.*$/gm, "")
      .replaceAll(shell === "fish" ? /$^/g : /'\\''/g, "")
      .replaceAll(quote, "")
      .replaceAll(/"[^"\n]*"/g, "");
  }
});
