import { expect, test } from "bun:test";
import { readFileSync, rmSync, statSync } from "node:fs";
import { startUpdates, type Updates } from "./support/backup-trial.ts";
import { migratedDatabase } from "./support/postgres-template.ts";
import { openWorkspace, type Workspace } from "./support/process.ts";
import { type Engine, engines } from "./support/service.ts";
import { createKey, unlimited } from "./support/stocking.ts";

/** Backs up, drills and restores stores of a million entries under load, and prints what it costs. */

const pairs = 500_000;
const writers = 8;
const baselineMs = 15_000;
const rssMbMax = 700;

interface Ended<T> {
  readonly result: T;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMb: number;
}

/** Runs a command with --json, and measures its time and memory. */
async function measure<T>(place: Workspace, ...words: string[]): Promise<Ended<T>> {
  const startedMs = performance.now();
  const running = place.start([...words, "--json"]);
  let peakKb = 0;
  let cpuSeconds = 0;
  let isRunning = true;
  const exited = running.exited.finally(() => {
    isRunning = false;
  });
  while (isRunning) {
    peakKb = Math.max(peakKb, peakOf(running.pid));
    cpuSeconds = Math.max(cpuSeconds, cpuSecondsOf(running.pid));
    await Bun.sleep(20);
  }
  expect({ code: await exited, written: running.written() }).toMatchObject({ code: 0 });
  const seconds = (performance.now() - startedMs) / 1_000;
  const line = running
    .written()
    .split("\n")
    .find((text) => text.startsWith("{"))!;
  return { result: JSON.parse(line), seconds, cpuSeconds, peakMb: Math.round(peakKb / 1024) };
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
  postgres: () => migratedDatabase(),
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
      const headers = { Authorization: `Bearer ${key}` };
      const response = await fetch(`${again.baseUrl}/inventory`, { headers });
      const entries = (await response.json()) as { petId: number; quantity: number }[];
      const quantities = new Map(entries.map(({ petId, quantity }) => [petId, quantity]));
      const isLost = ({ petIds, quantity }: Updates["acknowledged"][number]) =>
        petIds.some((petId) => (quantities.get(petId) ?? -1) < quantity);
      const lost = updates.acknowledged.filter(isLost);
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
      expect(quantities.size).toBe(2 * pairs);
      again.kill("SIGTERM");
      await again.exited;
    }
    await place.leave();
  }, 1_800_000);
}

function stepsOf({ checkMs, loadMs, verifyMs, ageMs }: Record<string, number>) {
  return { checkMs, loadMs, verifyMs, ageMs };
}
