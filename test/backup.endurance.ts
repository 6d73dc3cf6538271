import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Acknowledged, startUpdates, type Updates } from "./support/backup-trial.ts";
import { findFreePort } from "./support/ports.ts";
import { createdDatabase } from "./support/postgres-template.ts";
import { openWorkspace, type Started, signalUntilEnd, type Workspace } from "./support/process.ts";
import { litestreamWindowMs, startLitestream } from "./support/replica-trial.ts";
import { type Engine, engines } from "./support/service.ts";
import { createKey, unlimited } from "./support/stocking.ts";

/** Backs up, drills and restores stores of a million entries under load, and prints what it costs. */

const pairs = 500_000;
const writers = 8;
const baselineMs = 15_000;
const rssMbMax = 700;

interface Cost {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMb: number;
}

interface Ended<T> extends Cost {
  readonly result: T;
}

/** Runs a command with --json, and measures its time and memory. */
async function measure<T>(place: Workspace, ...words: string[]): Promise<Ended<T>> {
  const running = place.start([...words, "--json"]);
  const cost = await costOf(running);
  const line = running
    .written()
    .split("\n")
    .find((text) => text.startsWith("{"))!;
  return { result: JSON.parse(line), ...cost };
}

/** Measures a process that was just started, until it ends or `isDone`. */
async function costOf(running: Started, isDone?: () => Promise<boolean>): Promise<Cost> {
  const startedMs = performance.now();
  let peakKb = 0;
  let cpuSeconds = 0;
  let isRunning = true;
  const exited = running.exited.finally(() => {
    isRunning = false;
  });
  while (isRunning && !(await isDone?.())) {
    peakKb = Math.max(peakKb, peakOf(running.pid));
    cpuSeconds = Math.max(cpuSeconds, cpuSecondsOf(running.pid));
    await Bun.sleep(20);
  }
  if (!isDone || !isRunning)
    expect({ code: await exited, written: running.written() }).toMatchObject({ code: 0 });
  const seconds = (performance.now() - startedMs) / 1_000;
  return { seconds, cpuSeconds, peakMb: Math.round(peakKb / 1024) };
}

function peakOf(pid: number): number {
  try {
    const [, kilobytes] = /^VmHWM:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
    return Number(kilobytes);
  } catch {
    return 0;
  }
}

/** Time on a processor, which tells more than the clock on a machine with other work. */
function cpuSecondsOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    const ticksPerSecond = 100;
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  } catch {
    return 0;
  }
}

/** Requests per second and their latencies, of the requests from one index on. */
function loadOf({ durationsMs }: Updates, from: number, elapsedMs: number) {
  const sorted = durationsMs.slice(from).sort((one, other) => one - other);
  const at = (share: number) => Number(sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(1));
  const perSecond = Math.round((1_000 * sorted.length) / elapsedMs);
  return { perSecond, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

async function fill(place: Workspace, database: string): Promise<void> {
  const writer = Bun.file(place.path("pets.ndjson")).writer();
  for (let petId = 2; petId < 2 + 2 * pairs; petId++) {
    writer.write(
      `{"petId":${petId},"name":"Pet ${petId}","category":"dogs","tags":["small","young"]}\n`,
    );
    if (petId % 10_000 === 0) await writer.flush();
  }
  await writer.end();
  const imported = await place.run(["pets", "import", "pets.ndjson", "--database", database]);
  expect(imported.code).toBe(0);
}

const places: Record<Engine, (place: Workspace, name: string) => Promise<string>> = {
  sqlite: async (place, name) => `sqlite:${place.path(`${name}.db`)}`,
  postgres: () => createdDatabase(),
};

for (const engine of engines) {
  test(`a backup of 1,000,000 entries on ${engine} loses only what came after it`, async () => {
    const place = openWorkspace();
    const database = await places[engine](place, "source");
    await fill(place, database);
    const { key } = await createKey(database, { name: "load", ...unlimited });
    const service = await place.serve(["serve", "--database", database]);
    const updates = startUpdates(service.baseUrl, key, pairs, writers);
    await Bun.sleep(baselineMs);
    const alone = loadOf(updates, 0, baselineMs);
    const from = updates.durationsMs.length;
    const startedMs = Date.now();
    const file = place.path("backup.petstore");
    const backup = await measure<{ seq: number }>(place, "backup", file, "--database", database);
    const during = loadOf(updates, from, backup.seconds * 1_000);
    await updates.stop();
    service.kill("SIGTERM");
    await service.exited;
    const megabytes = (path: string) => Number((statSync(path).size / 1e6).toFixed(1));
    const stored = engine === "sqlite" ? megabytes(place.path("source.db")) : undefined;
    if (engine === "sqlite")
      for (const end of ["", "-wal", "-shm"])
        rmSync(place.path(`source.db${end}`), { force: true });
    const drill = await measure<Record<string, number>>(place, "drill", file);
    console.log(
      engine,
      JSON.stringify({
        updates: { alone, during },
        backup: {
          seconds: backup.seconds,
          cpuSeconds: backup.cpuSeconds,
          peakMb: backup.peakMb,
          megabytes: megabytes(file),
          stored,
        },
        drill: {
          seconds: drill.seconds,
          cpuSeconds: drill.cpuSeconds,
          peakMb: drill.peakMb,
          ...stepsOf(drill.result),
        },
      }),
    );
    expect(backup.peakMb).toBeLessThan(rssMbMax);
    for (const target of engines) {
      const restoredTo = await places[target](place, "restored");
      const restore = await measure<{ seq: number }>(
        place,
        "restore",
        file,
        "--database",
        restoredTo,
      );
      const again = await place.serve(["serve", "--database", restoredTo]);
      const lost = await listLost(again.baseUrl, key, updates);
      const lostBefore = lost.filter(({ atMs }) => atMs < startedMs);
      console.log(
        `${engine} to ${target}`,
        JSON.stringify({
          seconds: restore.seconds,
          cpuSeconds: restore.cpuSeconds,
          peakMb: restore.peakMb,
          acknowledged: updates.acknowledged.length,
          lostAfterTheStart: lost.length,
          lostBeforeTheStart: lostBefore.length,
        }),
      );
      expect(lostBefore).toEqual([]);
      again.kill("SIGTERM");
      await again.exited;
    }
    await place.leave();
  }, 1_800_000);
}

/** The acknowledged updates that a restored service does not have. */
async function listLost(baseUrl: string, key: string, { acknowledged }: Updates) {
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`${baseUrl}/inventory`, { headers });
  const entries = (await response.json()) as { petId: number; quantity: number }[];
  const quantities = new Map(entries.map(({ petId, quantity }) => [petId, quantity]));
  expect(quantities.size).toBe(2 * pairs);
  return acknowledged.filter(({ petIds, quantity }) =>
    petIds.some((petId) => (quantities.get(petId) ?? -1) < quantity),
  );
}

/** The object storage of the tests as a process, so that it takes no time from the clients. */
async function startStorage(place: Workspace): Promise<Record<string, string>> {
  const code = `import { startObjectStorage } from ${JSON.stringify(resolve("test/support/object-storage.ts"))};
    console.log(JSON.stringify((await startObjectStorage()).variables));`;
  const running = place.start(["-e", code], { command: [process.execPath] });
  await running.wrote("}");
  return JSON.parse(running.written());
}

/** Starts the service on a restored file, and returns what it cost and what is lost. */
async function reopen(place: Workspace, database: string, key: string, updates: Updates) {
  const port = String(await findFreePort());
  const service = place.start(["serve", "--port", port, "--database", database]);
  const isReady = async () =>
    (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200;
  const start = await costOf(service, isReady);
  const lost = await listLost(`http://127.0.0.1:${port}/v1`, key, updates);
  await signalUntilEnd(service, "SIGTERM");
  return { start, lost };
}

test.skipIf(!Bun.which("litestream"))(
  "a lost machine with 1,000,000 entries is back from a bucket, and from the copy by Litestream (needs litestream)",
  async () => {
    const elsewhere = openWorkspace();
    const variables = await startStorage(elsewhere);
    const place = openWorkspace(variables);
    try {
      const file = place.path("machine/production.db");
      const database = `sqlite:${file}`;
      mkdirSync(place.path("machine"));
      await fill(place, database);
      writeFileSync(place.path("backup.key"), "7".repeat(64));
      const encrypted = ["--backup-key-file", "backup.key"];
      const { key } = await createKey(database, { name: "load", ...unlimited });
      const service = await place.serve(["serve", "--database", database]);
      const copier = await startLitestream(place, file);
      const updates = startUpdates(service.baseUrl, key, pairs, writers);
      const target = ["--database", database];
      const plain = await measure(place, "backup", "s3://backups/plain", ...target);
      const startedMs = Date.now();
      const address = "s3://backups/encrypted";
      const sealed = await measure(place, "backup", address, ...target, ...encrypted);
      await Bun.sleep(baselineMs);
      service.kill("SIGKILL");
      const lostMs = Date.now();
      await copier.kill();
      await updates.stop().catch(() => {});
      const secondsOf = (lost: readonly Acknowledged[]) =>
        lost.reduce((oldest, { atMs }) => Math.max(oldest, (lostMs - atMs) / 1_000), 0);
      const wipe = () => {
        rmSync(place.path("machine"), { recursive: true });
        mkdirSync(place.path("machine"));
      };

      wipe();
      const restore = await measure(place, "restore", address, ...target, ...encrypted);
      const fromBucket = await reopen(place, database, key, updates);
      console.log(
        "bucket",
        JSON.stringify({
          backup: { plain, encrypted: sealed },
          restore,
          start: fromBucket.start,
          acknowledged: updates.acknowledged.length,
          lost: fromBucket.lost.length,
          lostSeconds: secondsOf(fromBucket.lost),
          backupStartedSecondsBefore: (lostMs - startedMs) / 1_000,
        }),
      );
      expect(fromBucket.lost.filter(({ atMs }) => atMs < startedMs)).toEqual([]);
      for (const { peakMb } of [plain, sealed]) expect(peakMb).toBeLessThan(rssMbMax);

      wipe();
      const words = ["restore", "-config", place.path("litestream.yml"), file];
      const copied = await costOf(place.start(words, { command: ["litestream"] }));
      const megabytes = statSync(file).size / 1e6;
      const verify = await measure(place, "verify", ...target);
      const fromCopy = await reopen(place, database, key, updates);
      console.log(
        "litestream",
        JSON.stringify({
          restore: copied,
          megabytes,
          verify,
          start: fromCopy.start,
          lost: fromCopy.lost.length,
          lostSeconds: secondsOf(fromCopy.lost),
        }),
      );
      expect(secondsOf(fromCopy.lost)).toBeLessThan(litestreamWindowMs / 1_000);
    } finally {
      await place.leave();
      await elsewhere.leave();
    }
  },
  1_800_000,
);

function stepsOf({ checkMs, loadMs, verifyMs, ageMs }: Record<string, number>) {
  return { checkMs, loadMs, verifyMs, ageMs };
}
