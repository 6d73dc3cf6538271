import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { until } from "../support/instances/fleet.ts";
import { type PostgresServer, runPostgres, startPostgres } from "../support/postgres.ts";
import { giveToServer, makeDataFolder, serverIdentity } from "../support/postgres-binaries.ts";
import { copyBase } from "../support/postgres-standby.ts";
import { importPets, verifyStore, withStoreAt } from "../support/stocking.ts";

/** The recipe for point-in-time recovery in docs/backup.md. */

/** The folder of the tools that the embedded server lacks: in PATH, or where packages of version 18 put them. */
const tools = [
  ...(process.env.PATH ?? "").split(":"),
  "/usr/lib/postgresql/18/bin",
  "/usr/pgsql-18/bin",
].find(
  (folder) =>
    existsSync(join(folder, "pg_verifybackup")) &&
    Bun.spawnSync([join(folder, "pg_basebackup"), "--version"]).stdout.includes("PostgreSQL) 18."),
);

/** Makes a base backup of the server in `folder`, as its folder `data`. */
type MakeBase = (server: PostgresServer, folder: string) => Promise<unknown>;

async function recoverTo(makeBase: MakeBase, target: "time" | "lsn"): Promise<void> {
  const archive = join(makeDataFolder(), "archive");
  mkdirSync(archive);
  giveToServer(archive);
  const server = await startPostgres({
    settings: {
      wal_level: "replica",
      archive_mode: "on",
      archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/part && mv ${archive}/part ${archive}/%f`,
    },
  });
  const database = await server.freshDatabase();
  const readHead = (url: string) => withStoreAt(url, async ({ inventory }) => inventory.readHead());
  await importPets(database, '{"petId":1,"name":"one","quantity":1}');
  const folder = makeDataFolder();
  await makeBase(server, folder);
  await importPets(database, '{"petId":1,"name":"one","quantity":2}');
  const { epoch, seq } = await readHead(database);
  let moment: string;
  {
    await using sql = new SQL(server.url(), { max: 1 });
    const [row] =
      await sql`SELECT pg_current_wal_lsn()::text AS lsn, clock_timestamp()::text AS time`;
    moment = row[target];
    // What must not come back.
    await importPets(database, '{"petId":1,"name":"one","quantity":3}');
    const [{ file }] = await sql`SELECT pg_walfile_name(pg_switch_wal()) AS file`;
    await until(() => readdirSync(archive).includes(file), 30_000, "the archived log");
  }
  const name = new URL(database).pathname.slice(1);
  await server.destroy();
  writeFileSync(join(folder, "data", "recovery.signal"), "");
  giveToServer(join(folder, "data", "recovery.signal"));
  const recovered = await runPostgres(folder, server.binaries, {
    settings: {
      restore_command: `cp ${archive}/%f %p`,
      [`recovery_target_${target}`]: moment,
      recovery_target_action: "promote",
    },
  });
  try {
    await using sql = new SQL(recovered.url(), { max: 1 });
    const isPrimary = async () => !(await sql`SELECT pg_is_in_recovery() AS yes`)[0].yes;
    while (!(await isPrimary())) await Bun.sleep(20);
    const url = recovered.url(name);
    expect(await verifyStore(url)).toMatchObject({ faultCount: 0, seq, rows: seq });
    const head = await readHead(url);
    // Another timeline, so clients notice.
    expect(head).toMatchObject({ seq: 2, epoch: epoch.replace(/\.1$/, ".2") });
    expect(head.epoch).not.toBe(epoch);
    await importPets(url, '{"petId":1,"name":"one","quantity":4}');
    expect(await verifyStore(url)).toMatchObject({ faultCount: 0, seq: 3 });
  } finally {
    await recovered.destroy();
  }
}

test.each(["time", "lsn"] as const)(
  "a base backup and the archived log are recovered to a moment, by %s, and the service continues in a new epoch",
  (target) => recoverTo((server, folder) => copyBase(server, folder, "recovery.signal"), target),
  60_000,
);

test.skipIf(tools === undefined)(
  "pg_basebackup makes a base backup that pg_verifybackup accepts and that is recovered (needs pg_basebackup)",
  () =>
    recoverTo(async (server, folder) => {
      const run = async (...command: string[]) => {
        const options = { cwd: folder, stderr: "pipe", ...serverIdentity } as const;
        const child = Bun.spawn([join(tools!, command[0]!), ...command.slice(1)], options);
        expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
      };
      const data = join(folder, "data");
      await run("pg_basebackup", "-d", server.url(), "-D", data, "-c", "fast", "-X", "stream");
      await run("pg_verifybackup", "--quiet", data);
    }, "time"),
  60_000,
);
