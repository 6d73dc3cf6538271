// Installs the peer's packages on the first run. They are not dependencies of the project.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "./processes.ts";

/** Installs the peer's packages if they are missing. Returns the error message if that fails. */
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
    // Without a prebuilt binary the driver is compiled. Use the headers of this Node if it has them,
    // so that they are not downloaded.
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
