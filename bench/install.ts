// The peer's packages are no dependency of the project: they come in when the benchmark first runs.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "./processes.ts";

/** Installs the peer's packages if they are not there; the reason in words if that fails. */
export async function installPeer(): Promise<string | undefined> {
  const directory = join(import.meta.dir, "peers");
  if (
    existsSync(join(directory, "node_modules/better-sqlite3/build/Release/better_sqlite3.node"))
  ) {
    return undefined;
  }
  try {
    const node = (await run(["node", "-p", "process.execPath"])).trim();
    const prefix = dirname(dirname(node));
    // Where no ready-made binary can be had the driver is compiled, against the headers that came
    // with this Node when there are some, so that none need be fetched.
    const headers = existsSync(join(prefix, "include/node/node.h"));
    await run(["npm", "ci", "--no-audit", "--no-fund"], {
      cwd: directory,
      ...(headers ? { env: { npm_config_nodedir: prefix } } : {}),
    });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
