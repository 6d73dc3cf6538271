// Runs the commands in docs/operating.md.
import { expect } from "bun:test";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** A block of commands in docs/operating.md, and the output that the page shows for it. */
interface Step {
  readonly commands: string;
  readonly shown: string | undefined;
}

export const operatingPage = readFileSync("docs/operating.md", "utf8");
export const operatingSteps: readonly Step[] = [
  ...operatingPage.matchAll(/```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs),
].map(([, commands, shown]) => ({ commands: commands!, shown }));

function freePort(): Promise<number> {
  const { promise, resolve: found } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { port: number };
    server.close(() => found(port));
  });
  return promise;
}

/** A pattern for the output that the page shows. `…` stands for anything. */
function patternOf(shown: string): RegExp {
  return new RegExp(shown.trim().split("…").map(RegExp.escape).join("[^]*"));
}

const build = "npm run build:binary\n";

/**
 * Runs every block in the order of the page, and compares its output with the page. Without `isBuilt`
 * the source code runs in place of the executable, because a build takes seconds.
 */
export async function walkOperatingPage({ isBuilt }: { isBuilt: boolean }): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "petstore-operating-"));
  const ports = { 8080: await freePort(), 9464: await freePort() };
  const fitted = (text: string) =>
    Object.entries(ports).reduce(
      (result, [port, free]) => result.replaceAll(port, String(free)),
      text,
    );
  const checkout = join(home, "checkout");
  if (isBuilt) copyCheckout(checkout);
  else {
    mkdirSync(join(checkout, "dist"), { recursive: true });
    const script = `#!/bin/sh\nexec "${resolve("bin/petstore")}" "$@"\n`;
    writeFileSync(join(checkout, "dist/petstore"), script, { mode: 0o755 });
  }
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
    for (const { commands, shown } of operatingSteps) {
      const { text, code } = await run(fitted(isBuilt ? commands : commands.replace(build, "")));
      expect({ commands, code, text }).toEqual({ commands, code: 0, text });
      if (shown !== undefined) expect(text).toMatch(patternOf(fitted(shown)));
    }
  } finally {
    await run("kill $(jobs -p) 2> /dev/null; wait").catch(() => {});
    shell.kill();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Copies everything that the build needs, so that the checkout stays as it is. */
function copyCheckout(folder: string): void {
  mkdirSync(folder);
  for (const name of ["bin", "src", "scripts", "package.json", "tsconfig.json"])
    cpSync(name, join(folder, name), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
}
