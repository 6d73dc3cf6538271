import { dirname, relative, resolve } from "node:path";

/**
 * The command line that started this program, up to the name of the command. An executable that
 * contains the program has its first argument inside itself.
 */
export function currentProgram(): readonly string[] {
  const [, script = ""] = process.argv;
  return isExecutable(script)
    ? [process.execPath]
    : [process.execPath, ...process.execArgv, script];
}

/** What to type to run this program again: its path below the current folder, or its name. */
export function programName(): string {
  const [, script = ""] = process.argv;
  const path = isExecutable(script)
    ? process.execPath
    : resolve(dirname(script), "../bin/petstore");
  const below = relative(process.cwd(), path);
  if (below.startsWith("..")) return "petstore";
  return below.includes("/") ? below : `./${below}`;
}

function isExecutable(script: string): boolean {
  return script.startsWith("/$bunfs/") || script.startsWith("B:\\~BUN\\");
}
