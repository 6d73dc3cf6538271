import { afterAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startObjectStorage } from "./support/object-storage.ts";
import { findFreePort } from "./support/ports.ts";
import { litestreamWindowMs } from "./support/replica-trial.ts";

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
  const more = ["backup", "drill", "verify", "restore", "health", "undo"];
  for (const word of [...walked, ...more]) expect(all).toContain(word);
  // Blocks in another language would not be run.
  expect(
    [...page.matchAll(/```(\w*)\n/g)].map(([, language]) => language || undefined),
  ).not.toContain("console");
});

/** The page up to the part with Litestream, that part, and the rest. */
const needsLitestream = (commands: string) => /^litestream |[ (]litestream /m.test(commands);
const first = steps.findIndex(({ commands }) => needsLitestream(commands));
const last = steps.findLastIndex(({ commands }) => needsLitestream(commands));
const parts = [steps.slice(0, first), steps.slice(first, last + 1), steps.slice(last + 1)] as const;

const shop = await openShop();
afterAll(() => shop.leave());

test("every command in docs/operating.md works in this order, and prints what the page shows", async () => {
  for (const step of parts[0]) await shop.follow(step);
});

test.skipIf(!Bun.which("litestream"))(
  "so does every command of the part with Litestream, which loses nothing older than its window (needs litestream)",
  async () => {
    for (const step of parts[1]) {
      const text = await shop.follow(step);
      const [, seconds] = /are lost, of the last (\d+) seconds/.exec(text) ?? [];
      if (seconds) expect(Number(seconds)).toBeLessThanOrEqual(litestreamWindowMs / 1_000);
    }
  },
);

test("so does every command after it", async () => {
  for (const step of parts[2]) await shop.follow(step);
});

/** A home with a checkout, a shell in it, and a bucket. */
async function openShop() {
  const home = mkdtempSync(join(tmpdir(), "petstore-operating-"));
  const storage = await startObjectStorage("shop-backups");
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
    env: { HOME: home, PATH: process.env.PATH ?? "", TZ: "UTC", ...storage.variables },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
    // With a process group of its own, so that whatever ends the shell also ends all that it has started.
    detached: true,
  });
  shell.stdin.write("trap 'kill 0' EXIT\n");
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

  return {
    /** Runs a step as the page has it. Returns its output. */
    async follow({ commands, shown }: Step): Promise<string> {
      const { text, code } = await run(fitted(commands));
      expect({ commands, code, text }).toEqual({ commands, code: 0, text });
      if (shown !== undefined) expect(text).toMatch(patternOf(fitted(shown)));
      return text;
    },
    async leave(): Promise<void> {
      try {
        process.kill(-shell.pid, "SIGKILL");
      } catch {
        // All have ended.
      }
      storage.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
