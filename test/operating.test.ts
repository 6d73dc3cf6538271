import { expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { findFreePort } from "./support/ports.ts";

/** A block of commands in docs/operating.md, and the output that the page shows for it. */
interface Step {
  readonly commands: string;
  readonly shown: string | undefined;
}

const page = readFileSync("docs/operating.md", "utf8");
const steps: readonly Step[] = [
  ...page.matchAll(/```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs),
].map(([, commands, shown]) => ({ commands: commands!, shown }));

/** A pattern for the output that the page shows. `…` stands for anything. */
function patternOf(shown: string): RegExp {
  return new RegExp(shown.trim().split("…").map(RegExp.escape).join("[^]*"));
}

test("docs/operating.md has commands from the installation to the recovery", () => {
  expect(steps.length).toBeGreaterThan(12);
  const all = steps.map(({ commands }) => commands).join("");
  const walked = ["build:binary", "config", "serve", "keys create", "pets import", "doctor"];
  const more = ["backup", "drill", "verify", "upgrade --check", "restore", "health", "undo"];
  for (const word of [...walked, ...more]) expect(all).toContain(word);
  // Blocks in another language would not be run.
  expect(
    [...page.matchAll(/```(\w*)\n/g)].map(([, language]) => language || undefined),
  ).not.toContain("console");
});

test("every command in docs/operating.md works in this order, and prints what the page shows", async () => {
  const home = mkdtempSync(join(tmpdir(), "petstore-operating-"));
  const ports = { 8080: await findFreePort(), 9464: await findFreePort() };
  const fitted = (text: string) =>
    Object.entries(ports).reduce(
      (result, [port, free]) => result.replaceAll(port, String(free)),
      text,
    );
  // Everything that the build needs, so that the checkout stays as it is.
  const checkout = join(home, "checkout");
  mkdirSync(checkout);
  for (const name of ["bin", "src", "client/src", "scripts", "package.json", "tsconfig.json"])
    cpSync(name, join(checkout, name), { recursive: true });
  symlinkSync(resolve("node_modules"), join(checkout, "node_modules"));
  const shell = Bun.spawn(["sh", "-e"], {
    cwd: checkout,
    env: { HOME: home, PATH: process.env.PATH ?? "", TZ: "UTC" },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const output = shell.stdout.getReader();
  const decoder = new TextDecoder();
  let unread = "";

  /** Runs one block in the same shell. Returns its output and its exit code. */
  async function run(commands: string): Promise<{ text: string; code: number }> {
    shell.stdin.write(`exec 2>&1\n${commands}\necho "end of block $?"\n`);
    shell.stdin.flush();
    for (;;) {
      const ended = /end of block (\d+)\n/.exec(unread);
      if (ended) {
        const text = unread.slice(0, ended.index);
        unread = unread.slice(ended.index + ended[0].length);
        return { text, code: Number(ended[1]) };
      }
      const { value, done } = await output.read();
      if (done) throw new Error(`the shell ended: ${unread}`);
      unread += decoder.decode(value, { stream: true });
    }
  }

  try {
    for (const { commands, shown } of steps) {
      const { text, code } = await run(fitted(commands));
      expect({ commands, code, text }).toEqual({ commands, code: 0, text });
      if (shown !== undefined) expect(text).toMatch(patternOf(fitted(shown)));
    }
  } finally {
    await run("kill $(jobs -p) 2> /dev/null; wait").catch(() => {});
    shell.kill();
    rmSync(home, { recursive: true, force: true });
  }
});
