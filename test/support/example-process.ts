import { linesOf } from "./lines.ts";

/** Starts a program of examples/ that runs until it is stopped. */
export function startExample(
  command: readonly string[],
  env: Record<string, string>,
  cwd = new URL("../..", import.meta.url).pathname,
) {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const lines = linesOf(child.stdout);
  const errors = new Response(child.stderr).text();
  return {
    /** Reads up to the next line that matches. */
    async lineWith(pattern: string | RegExp): Promise<string> {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`The example ended before ${pattern}: ${await errors}`);
        if (value.match(pattern)) return value;
      }
    },
    /** Ends the program as a crash does. */
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
