/**
 * The command line that started this program, up to the name of the command. An executable that
 * contains the program has its first argument inside itself.
 */
export function currentProgram(): readonly string[] {
  const [, script = ""] = process.argv;
  const isExecutable = script.startsWith("/$bunfs/") || script.startsWith("B:\\~BUN\\");
  return isExecutable ? [process.execPath] : [process.execPath, ...process.execArgv, script];
}
