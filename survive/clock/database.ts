import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PostgresServer, startPostgres } from "../../test/support/postgres.ts";
import type { Engine } from "../../test/support/service.ts";

/** An empty database for instances, and a server that may be killed if the engine has one. */
export interface TrialDatabase extends AsyncDisposable {
  readonly url: string;
  readonly server: PostgresServer | undefined;
  /** How many instances can use it at once. */
  readonly instances: number;
}

export async function openTrialDatabase(engine: Engine): Promise<TrialDatabase> {
  if (engine === "postgres") {
    const server = await startPostgres();
    const url = await server.freshDatabase();
    return { url, server, instances: 2, [Symbol.asyncDispose]: () => server.destroy() };
  }
  const folder = mkdtempSync(join(tmpdir(), "petstore-trial-"));
  return {
    url: `sqlite:${join(folder, "trial.db")}`,
    server: undefined,
    instances: 1,
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }),
  };
}
