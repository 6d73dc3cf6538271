import { expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { type PostgresServer, runPostgres, startPostgres } from "../support/postgres.ts";
import { giveToServer, makeDataFolder, serverIdentity } from "../support/postgres-binaries.ts";
import { copyBase } from "../support/postgres-standby.ts";
import { importPets, verifyStore, withStoreAt } from "../support/stocking.ts";
import { until } from "../support/until.ts";

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

/** The value of a setting in the recipe, with another folder for the archive. */
function fromRecipe(setting: string, archive: string): string {
  const recipe = readFileSync(join(import.meta.dir, "../../docs/backup.md"), "utf8");
  const [, value] = recipe.match(new RegExp(`^ *${setting} = '(.*)'$`, "m"))!;
  return value!.replaceAll("/archive", archive);
}

/** Makes a base backup of the server in `folder`, as its folder `data`. */
type MakeBase = (server: PostgresServer, folder: string) => Promise<unknown>;

async function recoverTo(makeBase: MakeBase, target: "time" | "lsn"): Promise<void> {
  const folders = [makeDataFolder(), makeDataFolder()] as const;
  try {
    await recoverIn(...folders, makeBase, target);
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true });
  }
}

async function recoverIn(
  base: string,
  archiveFolder: string,
  makeBase: MakeBase,
  target: "time" | "lsn",
): Promise<void> {
  const archive = join(archiveFolder, "archive");
  mkdirSync(archive);
  giveToServer(archive);
  const archiving = {
    wal_level: "replica",
    archive_mode: "on",
    archive_command: fromRecipe("archive_command", archive),
  };
  const server = await startPostgres({ settings: archiving });
  const database = await server.freshDatabase();
  const readHead = (url: string) => withStoreAt(url, async ({ inventory }) => inventory.readHead());
  const isArchived = (file: string) =>
    until(() => readdirSync(archive).includes(file), 30_000, "the archived log");
  await importPets(database, '{"petId":1,"name":"one","quantity":1}');
  await makeBase(server, base);
  await importPets(database, '{"petId":1,"name":"one","quantity":2}');
  const { epoch, seq } = await readHead(database);
  let moment: string;
  {
    await using sql = new SQL(server.url(), { max: 1 });
    const [row] =
      await sql`SELECT pg_current_wal_lsn()::text AS lsn, clock_timestamp()::text AS time`;
    moment = row[target];
    const [{ file }] = await sql`SELECT pg_walfile_name(pg_switch_wal()) AS file`;
    await isArchived(file);
    // A server that crashes before it notes this archives the file again.
    const status = join(server.folder, "data/pg_wal/archive_status", file);
    await until(() => existsSync(`${status}.done`), 30_000, "the note of the server");
    renameSync(`${status}.done`, `${status}.ready`);
    // What must not come back.
    await importPets(database, '{"petId":1,"name":"one","quantity":3}');
    const [{ file: next }] = await sql`SELECT pg_walfile_name(pg_switch_wal()) AS file`;
    await isArchived(next);
  }
  const name = new URL(database).pathname.slice(1);
  await server.destroy();

  async function recover(settings: Record<string, string>, check: (url: string) => Promise<void>) {
    const folder = makeDataFolder();
    expect(await Bun.spawn(["cp", "-a", join(base, "data"), folder]).exited).toBe(0);
    writeFileSync(join(folder, "data", "recovery.signal"), "");
    giveToServer(join(folder, "data", "recovery.signal"));
    const restoring = { restore_command: fromRecipe("restore_command", archive) };
    const recovered = await runPostgres(folder, server.binaries, {
      settings: { ...archiving, ...restoring, ...settings },
    });
    try {
      await using sql = new SQL(recovered.url(), { max: 1 });
      const isPrimary = async () => !(await sql`SELECT pg_is_in_recovery() AS yes`)[0].yes;
      await until(isPrimary, 30_000, "the end of the recovery");
      await check(recovered.url(name));
    } finally {
      await recovered.destroy();
    }
  }

  const action = { recovery_target_action: "promote" };
  await recover({ [`recovery_target_${target}`]: moment, ...action }, async (url) => {
    expect(await verifyStore(url)).toMatchObject({ faultCount: 0, seq, rows: seq });
    const head = await readHead(url);
    // Another timeline, so clients notice.
    expect(head).toMatchObject({ seq: 2, epoch: epoch.replace(/\.1$/, ".2") });
    expect(head.epoch).not.toBe(epoch);
    await importPets(url, '{"petId":1,"name":"one","quantity":4}');
    expect(await verifyStore(url)).toMatchObject({ faultCount: 0, seq: 3 });
    await using sql = new SQL(url, { max: 1 });
    const [{ file }] = await sql`SELECT pg_walfile_name(pg_switch_wal()) AS file`;
    await isArchived(file);
  });
  // A second attempt, to a later moment.
  await recover({ recovery_target_timeline: "current" }, async (url) => {
    expect(await verifyStore(url)).toMatchObject({ faultCount: 0, seq: 3 });
    const entries = await withStoreAt(url, async ({ inventory }) =>
      inventory.entriesAfter(null, 9),
    );
    expect(entries).toMatchObject([{ quantity: 3 }]);
  });
}

test.each(["time", "lsn"] as const)(
  "a base backup and the archived log are recovered to a moment, by %s, and the service continues in a new epoch",
  (target) => recoverTo((server, folder) => copyBase(server, folder, "recovery.signal"), target),
  180_000,
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
  180_000,
);
