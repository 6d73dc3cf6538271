import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { type PostgresServer, runPostgres } from "./postgres.ts";
import { giveToServer, makeDataFolder, serverIdentity } from "./postgres-binaries.ts";

export type Standby = PostgresServer & {
  /** Makes the standby a primary. Resolves once it accepts writes. */
  promote(): Promise<void>;
};

/**
 * A physical standby that streams from the primary. With `synchronous`, the primary acknowledges
 * a commit only after the standby has it on disk.
 */
export async function startStandby(
  primary: PostgresServer,
  { synchronous = false } = {},
): Promise<Standby> {
  const folder = makeDataFolder();
  const name = `standby_${folder.slice(-6).toLowerCase()}`;
  await copyRunningCluster(primary, folder, name);
  const server = await runPostgres(folder, primary.binaries, {
    ...primary.options,
    settings: {
      ...primary.options.settings,
      primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres application_name=${name}`,
      primary_slot_name: name,
      // The promoted standby must not wait for another standby.
      synchronous_standby_names: "",
    },
  });
  await awaitStreaming(primary, name, synchronous);
  return Object.defineProperties(
    {
      async promote() {
        await using sql = new SQL(server.url(), { max: 1 });
        await sql`SELECT pg_promote(true, 60)`;
      },
    },
    Object.getOwnPropertyDescriptors(server),
  ) as Standby;
}

/** Copies the primary. The slot is created first and keeps every part of the WAL that the copy will need. */
async function copyRunningCluster(primary: PostgresServer, folder: string, slot: string) {
  await using sql = new SQL(primary.url(), { max: 1 });
  await sql`SELECT pg_create_physical_replication_slot(${slot}, true)`;
  await copyBase(primary, folder, "standby.signal");
}

/**
 * The package has no pg_basebackup, so the low-level backup functions make the copy. `signal` is the file
 * that says what the copy does when it is started.
 */
export async function copyBase(primary: PostgresServer, folder: string, signal: string) {
  const data = join(folder, "data");
  await using pool = new SQL(primary.url(), { max: 1 });
  // Both backup calls must come from one session.
  using sql = await pool.reserve();
  await sql`SELECT pg_backup_start(${signal}, fast => true)`;
  const copy = Bun.spawn(["cp", "-R", join(primary.folder, "data"), data], {
    cwd: folder,
    stderr: "ignore",
    ...serverIdentity,
  });
  // cp reports files that vanish while it reads. The WAL replay restores them.
  await copy.exited;
  const [stop] = await sql`SELECT labelfile FROM pg_backup_stop(false)`;
  for (const left of ["postmaster.pid", "postmaster.opts"]) rmSync(join(data, left));
  for (const emptied of ["pg_wal", "pg_replslot"]) {
    for (const entry of readdirSync(join(data, emptied))) {
      rmSync(join(data, emptied, entry), { recursive: true });
    }
  }
  for (const [file, text] of [
    ["backup_label", stop.labelfile],
    [signal, ""],
  ]) {
    writeFileSync(join(data, file), text);
    giveToServer(join(data, file));
  }
}

/** PostgreSQL has no event for a standby that has caught up, so this polls its view. */
async function awaitStreaming(primary: PostgresServer, name: string, synchronous: boolean) {
  await using sql = new SQL(primary.url(), { max: 1 });
  if (synchronous) {
    await sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await sql`SELECT pg_reload_conf()`;
  }
  for (let attempt = 0; attempt < 600; attempt++) {
    const [row] = await sql`
      SELECT state, sync_state FROM pg_stat_replication WHERE application_name = ${name}`;
    if (row?.state === "streaming" && (!synchronous || row.sync_state === "sync")) return;
    await Bun.sleep(50);
  }
  throw new Error(`${name} did not start streaming`);
}
