import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../test/support/postgres.ts";
import type { Engine } from "../../test/support/service.ts";

/** An empty database for instances. */
export interface TrialDatabase extends AsyncDisposable {
  readonly url: string;
  readonly engine: Engine;
  /** How many instances can use it at once. */
  readonly instances: number;
}

export async function openTrialDatabase(engine: Engine): Promise<TrialDatabase> {
  if (engine === "postgres") {
    const server = await startPostgres();
    const url = await server.freshDatabase();
    return { url, engine, instances: 2, [Symbol.asyncDispose]: () => server.destroy() };
  }
  const folder = mkdtempSync(join(tmpdir(), "petstore-trial-"));
  return {
    url: `sqlite:${join(folder, "trial.db")}`,
    engine,
    instances: 1,
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }),
  };
}
