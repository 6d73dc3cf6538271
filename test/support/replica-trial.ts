// Loses the machine of a store that another program copies continuously, and restores the copy.
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Client, enterLoadedPlace, type LoadedPlace } from "./crashes.ts";
import type { ObjectStorage } from "./object-storage.ts";
import type { Served, Workspace } from "./process.ts";
import { startTestService } from "./service.ts";
import { verifyStore, withStoreAt } from "./stocking.ts";
import { until } from "./until.ts";

/** A moment to restore: a mark that `sync` has returned, or a time. The newest state without it. */
type Moment = { readonly mark: string } | { readonly time: string } | undefined;

/** A program that copies a store continuously. */
export interface Copier {
  /** Where it copies to: a folder, or a prefix in a bucket. */
  readonly target: string;
  /** Resolves when everything that was stored before is in the copy, with a mark of that state. */
  sync(): Promise<string>;
  /** Copies the copy as it is, as if the machine were lost now. Returns where that is. */
  save(name: string): string;
  /** Restores a copy to a file, whose folder is empty. */
  restore(from: string, file: string, moment?: Moment): Promise<void>;
  /** Ends it without notice, like the loss of the machine. */
  kill(): Promise<void>;
}

/** Starts to copy the database. */
export type StartCopier = (place: Workspace, database: string) => Promise<Copier>;

/** Where Litestream copies to: the lines of its configuration, and what `restore` and `save` need. */
interface Target extends Pick<Copier, "target" | "save"> {
  readonly lines: readonly string[];
  readonly env?: Record<string, string>;
  urlOf(from: string): string;
}

function folderIn(place: Workspace): Target {
  const target = newFolder(place);
  return {
    target,
    lines: ["type: file", `path: ${target}`],
    urlOf: (from) => `file://${from}`,
    save: (name) => copyOf(target, place.path(name)),
  };
}

function newFolder(place: Workspace): string {
  const folder = place.path("replica");
  mkdirSync(folder);
  return folder;
}

function prefixIn({ bucket, endpoint, objects, variables }: ObjectStorage, region: string): Target {
  return {
    target: "replica",
    lines: [`url: s3://${bucket}/replica`, `endpoint: ${endpoint}`, `region: ${region}`],
    env: variables,
    urlOf: (from) => `s3://${bucket}/${from}?endpoint=${endpoint}&region=${region}`,
    save(name) {
      for (const [key, object] of [...objects])
        if (key.startsWith("replica/")) objects.set(key.replace("replica", name), object);
      return name;
    },
  };
}

/** The command that `--replica-check` gets for the database of a place, as docs/litestream.md has it. */
export const replicaCheckIn = (place: Workspace, database: string) =>
  ["litestream", "sync", "-wait", "-timeout", "15", "-socket", socketIn(place), database].join(" ");

/** The control socket of Litestream in a place. */
const socketIn = (place: Workspace) => place.path("litestream.sock");

/** What docs/litestream.md says is lost at most. */
export const litestreamWindowMs = 5_000;

/** Copies to a folder. */
export const startLitestream: StartCopier = (place, database) =>
  startLitestreamTo(folderIn(place), place, database);

/** Copies to a bucket. */
export const startLitestreamIn =
  (storage: ObjectStorage): StartCopier =>
  (place, database) =>
    startLitestreamTo(prefixIn(storage, storage.variables.AWS_REGION!), place, database);

/** Litestream 0.5.12 or later: earlier ones print no JSON after a sync. */
async function startLitestreamTo(
  { target, lines, env = {}, urlOf, save }: Target,
  place: Workspace,
  database: string,
): Promise<Copier> {
  const socket = socketIn(place);
  const config = place.path("litestream.yml");
  // The settings of docs/litestream.md.
  writeFileSync(
    config,
    `socket:
  enabled: true
  path: ${socket}
  permissions: 0600
dbs:
  - path: ${database}
    monitor-interval: 1s
    busy-timeout: 5s
    replica:
      ${lines.join("\n      ")}
      sync-interval: 1s
`,
  );
  const litestream = { command: ["litestream"], env };
  const running = place.start(["replicate", "-config", config], litestream);
  const askToSync = () =>
    place.run(
      ["sync", "-wait", "-json", "-timeout", "30", "-socket", socket, database],
      litestream,
    );
  await until(async () => (await askToSync()).code === 0, 20_000, "the first copy by Litestream");
  return {
    target,
    save,
    async sync() {
      const { code, out, err } = await askToSync();
      expect({ code, err: code === 0 ? "" : err }).toEqual({ code: 0, err: "" });
      const { txid } = JSON.parse(out) as { txid: number };
      // `restore -txid` takes 16 hexadecimal digits.
      return txid.toString(16).padStart(16, "0");
    },
    async restore(from, file, moment) {
      const flags = !moment
        ? []
        : "mark" in moment
          ? ["-txid", moment.mark]
          : ["-timestamp", moment.time];
      const { code, err, out } = await place.run(
        ["restore", "-o", file, ...flags, urlOf(from)],
        litestream,
      );
      if (code !== 0) throw new Error(`litestream restore ended with ${code}: ${out}${err}`);
    },
    async kill() {
      running.kill("SIGKILL");
      await running.exited;
    },
  };
}

const copyEveryMs = 50;

/**
 * Does to a store what Litestream does, as far as the service can notice: it adds two tables, writes to one
 * of them, and copies whole states. Each copy is a file with its number and its time in the name.
 */
export const startStandIn: StartCopier = async (place, path) => {
  const folder = newFolder(place);
  const database = new Database(path);
  database.run("PRAGMA busy_timeout = 5000");
  database.run("CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)");
  database.run("CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER)");
  let copies = 0;
  function copy(): string {
    database.run(`INSERT INTO _litestream_seq (id, seq) VALUES (1, 1)
      ON CONFLICT (id) DO UPDATE SET seq = seq + 1`);
    const mark = String(++copies).padStart(6, "0");
    const file = join(folder, `${mark}-${Date.now()}.db`);
    // Written under another name first: a copy of the folder has no half file.
    writeFileSync(`${file}.tmp`, database.serialize());
    renameSync(`${file}.tmp`, file);
    return mark;
  }
  copy();
  const timer = setInterval(copy, copyEveryMs);
  return {
    target: folder,
    save: (name) => copyOf(folder, place.path(name)),
    sync: async () => copy(),
    async restore(from, file, moment) {
      const names = readdirSync(from).filter((name) => name.endsWith(".db"));
      const found = names.sort().findLast((name) => {
        const [mark, time] = name.replace(".db", "").split("-") as [string, string];
        if (!moment) return true;
        return "mark" in moment ? mark === moment.mark : Number(time) < Date.parse(moment.time);
      });
      cpSync(join(from, found!), file);
    },
    async kill() {
      clearInterval(timer);
      database.close();
    },
  };
};

interface Acknowledged {
  readonly at: number;
  readonly petId: number;
  readonly quantity: number;
}

/** The copy as it was at a moment, and how many of the updates were certainly in it. */
interface Saved {
  readonly target: string;
  readonly at: number;
  readonly synced: number;
}

/** How many copies of the copy are made under load, of which each stands for a lost machine. */
const saves = 3;

/**
 * Serves a store under load, copies its copy at random moments, and kills everything. Every copy must be a
 * sound store with all updates from before the last sync, and all that were acknowledged more than
 * `windowMs` earlier. One moment must be restored exactly, by its mark and by its time. Returns for each
 * copy how old the oldest update was that it lacks.
 */
export async function runReplicaTrial(start: StartCopier, windowMs: number): Promise<number[]> {
  const loaded = await enterLoadedPlace();
  const { place, database } = loaded;
  let copier: Copier | undefined;
  try {
    // A check that syncs nothing: it only tells the service that the store is copied.
    const service = await place.serve(["serve", "--replica-check", "true"]);
    copier = await start(place, database.replace("sqlite:", ""));
    const acknowledged: Acknowledged[] = [];
    const first = startLoad(loaded, service, acknowledged);
    await grow(acknowledged, 64);
    await first.stop();
    const head = await verifyStore(database);
    const mark = await copier.sync();
    const time = await nextMoment();

    const second = startLoad(loaded, service, acknowledged);
    await grow(acknowledged, 64);
    const synced = acknowledged.length;
    await copier.sync();
    const saved = [save(copier, "saved-0", synced)];
    // From here on, no sync helps. The window counts once updates that no sync has copied are older than it.
    const unsynced = acknowledged.length;
    await grow(acknowledged, 1);
    const hasWindow = Number.isFinite(windowMs);
    if (hasWindow) await passed(acknowledged[unsynced]!.at + windowMs);
    // Litestream does its work once a second, the stand-in more often.
    const random = () => passed(Date.now() + Math.random() * (hasWindow ? 1_000 : 100));
    while (saved.length < saves) {
      await random();
      saved.push(save(copier, `saved-${saved.length}`, synced));
    }
    await random();
    service.kill("SIGKILL");
    const lostAt = Date.now();
    await copier.kill();
    await second.stop();
    saved.push({ target: copier.target, at: lostAt, synced });

    const lostMs: number[] = [];
    for (const [at, one] of saved.entries()) {
      const file = await restored(place, copier, one.target, `copy-${at}`);
      lostMs.push(await expectCopied(file, acknowledged, one, windowMs));
      // A row and its hash from before prove that the ledger was not changed.
      expect(await verifyStore(`sqlite:${file}`, head)).toMatchObject({ faults: [] });
    }
    for (const moment of [{ mark }, { time }]) {
      const file = await restored(place, copier, copier.target, Object.keys(moment)[0]!, moment);
      const { faults, seq, hash } = await verifyStore(`sqlite:${file}`);
      expect({ faults, seq, hash }).toEqual({ faults: [], seq: head.seq, hash: head.hash });
    }
    await expectServed(loaded, place.path(`copy-${saves}/restored.db`));
    return lostMs;
  } finally {
    await copier?.kill();
    await place.leave();
  }
}

const passed = (time: number) => until(() => Date.now() > time, 20_000, "a later time");

/** What was in the copy before the call is in the copy of it. */
function save(copier: Copier, name: string, synced: number): Saved {
  const at = Date.now();
  return { target: copier.save(name), at, synced };
}

/** A time that is later than everything until now, and earlier than everything from now on. */
async function nextMoment(): Promise<string> {
  const now = Date.now();
  await until(() => Date.now() > now + 2, 1_000, "the next moment");
  const moment = Date.now();
  await until(() => Date.now() > moment + 2, 1_000, "the moment after it");
  return new Date(moment).toISOString();
}

function startLoad(loaded: LoadedPlace, service: Served, acknowledged: Acknowledged[]) {
  let isStopped = false;
  async function load(client: Client): Promise<void> {
    while (!isStopped) {
      const status = await loaded.update(service, client).catch(() => undefined);
      if (status !== 200) return;
      const { petId, acknowledged: quantity } = client;
      acknowledged.push({ at: Date.now(), petId, quantity });
    }
  }
  const all = Promise.all(loaded.clients.map(load));
  return {
    async stop(): Promise<void> {
      isStopped = true;
      await all;
    },
  };
}

async function grow(list: readonly unknown[], by: number): Promise<void> {
  const enough = list.length + by;
  await until(() => list.length >= enough, 20_000, "acknowledged updates");
}

/** Copies a folder into which another program writes. A file that disappears meanwhile is no failure. */
function copyOf(folder: string, to: string): string {
  for (let attempt = 1; ; attempt++) {
    try {
      cpSync(folder, to, { recursive: true, preserveTimestamps: true });
      return to;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempt === 10) throw error;
      rmSync(to, { recursive: true, force: true });
    }
  }
}

/** Restores to a folder that has nothing else. Returns the file. */
async function restored(
  place: Workspace,
  copier: Copier,
  from: string,
  name: string,
  moment?: Moment,
): Promise<string> {
  const file = place.path(`${name}/restored.db`);
  mkdirSync(dirname(file));
  await copier.restore(from, file, moment);
  // Nothing but the database: the service makes its other files again.
  expect(readdirSync(dirname(file))).toEqual(["restored.db"]);
  return file;
}

/** Returns how old the oldest update was that the copy lacks. */
async function expectCopied(
  file: string,
  acknowledged: readonly Acknowledged[],
  { at, synced }: Saved,
  windowMs: number,
): Promise<number> {
  const entries = await withStoreAt(`sqlite:${file}`, async ({ inventory }) =>
    inventory.entriesAfter(null, 100),
  );
  const lost = acknowledged.filter(
    ({ petId, quantity }) =>
      entries.find((one) => one.petId === BigInt(petId))!.quantity < quantity,
  );
  expect(acknowledged.slice(0, synced).filter((one) => lost.includes(one))).toEqual([]);
  const lostMs = lost.reduce((oldest, one) => Math.max(oldest, at - one.at), 0);
  expect(lostMs).toBeLessThanOrEqual(windowMs);
  return lostMs;
}

/** The restored store takes updates, and no cached list of the lost one passes for its own. */
async function expectServed({ key }: LoadedPlace, file: string): Promise<void> {
  const service = await startTestService("sqlite", { database: `sqlite:${file}` });
  try {
    const body = '{"quantity":7}';
    expect((await service.call("PATCH", "/inventory/1", { key, body })).status).toBe(200);
    const { json } = await service.call("GET", "/inventory/1", { key });
    expect(json).toMatchObject({ petId: 1, quantity: 7 });
  } finally {
    await service.stop();
  }
  expect(await verifyStore(`sqlite:${file}`)).toMatchObject({ faults: [] });
}
