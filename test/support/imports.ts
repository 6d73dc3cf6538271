import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { type ProbeReport, probeEnvironment, readProbe } from "../../bench/probe-client.ts";
import { enterPlace, type Place, petstore, type Served } from "./process.ts";
import { call } from "./service.ts";

const importRssBytesMax = 200 * 1024 * 1024;

/** Imports that many rows beside a service under load, and tells how long others had to wait. */
export async function importBesideService(rowsCount: number): Promise<void> {
  const place = enterPlace();
  try {
    await place.run(["pets", "import", "-"], { stdin: '{"petId":1,"name":"Before"}' });
    const plan = ["--plan", "enterprise", "--per-minute", "1000000", "--per-day", "100000000"];
    const { key } = await place.json<{ key: string }>("keys", "create", "--name", "load", ...plan);
    await writeRows(place.path("pets.csv"), rowsCount);
    const service = await place.serve();
    const figures = await importUnderLoad(place, service, key, rowsCount);
    console.log(`import of ${rowsCount} rows:`, JSON.stringify(figures, rounded));
    expect(figures.rssBytes).toBeLessThan(importRssBytesMax);
    const list = await call(service.baseUrl, "GET", "/inventory", { key });
    expect(list.json).toHaveLength(rowsCount);
    const verified = await place.json<{ entries: number; faults: string[] }>("verify");
    expect(verified).toMatchObject({ entries: rowsCount, faults: [] });
  } finally {
    await place.leave();
  }
}

/**
 * Imports that many rows twice, the second time with other quantities beside a service that is
 * read, and gives what the probe in its event loop has seen of that.
 */
export async function probeImportOfChanges(rowsCount: number): Promise<ProbeReport> {
  const place = enterPlace();
  try {
    const plan = ["--plan", "enterprise", "--per-minute", "1000000", "--per-day", "100000000"];
    const { key } = await place.json<{ key: string }>("keys", "create", "--name", "load", ...plan);
    const load = async (shift: number) => {
      await writeRows(place.path("pets.csv"), rowsCount, shift);
      return place.json("pets", "import", "pets.csv");
    };
    await load(0);
    const file = place.path("probe.json");
    const service = await place.serve(["serve"], { env: probeEnvironment(file) });
    await readProbe(service.pid, file);
    const headers = { Authorization: `Bearer ${key}` };
    const list = () => fetch(`${service.baseUrl}/inventory`, { headers });
    let isDone = false;
    const reads = worst(
      () => isDone,
      async () => {
        const answer = await list();
        await answer.arrayBuffer();
        return answer;
      },
    );
    expect(await load(1)).toEqual({ created: 0, changed: rowsCount, unchanged: 0 });
    const last = await (await list()).text();
    isDone = true;
    await reads;
    expect(
      last.endsWith(`{"petId":${rowsCount},"quantity":${rowsCount + 1},"status":"sold"}]`),
    ).toBe(true);
    return await readProbe(service.pid, file);
  } finally {
    await place.leave();
  }
}

async function importUnderLoad(place: Place, service: Served, key: string, rowsCount: number) {
  const headers = { Authorization: `Bearer ${key}` };
  // Bare, so that parsing a list of this length does not count as the service's time.
  const ask = (method: string, path: string, body?: string) => async () => {
    const answer = await fetch(service.baseUrl + path, { method, headers, body: body ?? null });
    await answer.arrayBuffer();
    return answer;
  };
  const started = performance.now();
  const importing = Bun.spawn([petstore, "pets", "import", "pets.csv", "--json"], {
    cwd: place.folder,
    stdout: "pipe",
    stderr: "inherit",
  });
  let isDone = false;
  const during = Promise.all([
    worst(() => isDone, ask("GET", "/pets/1")),
    worst(() => isDone, ask("GET", "/inventory")),
    worst(() => isDone, ask("PATCH", "/inventory/1", '{"quantity":5}')),
    longestLock(() => isDone, place.path("data/production.db")),
  ]);
  expect(await importing.exited).toBe(0);
  const importMs = performance.now() - started;
  isDone = true;
  const [readPetMs, readListMs, updateMs, lockMs] = await during;
  expect(await new Response(importing.stdout).json()).toEqual({
    created: rowsCount - 1,
    changed: 1,
    unchanged: 0,
  });
  const rssBytes = importing.resourceUsage()!.maxRSS;
  return { importMs, lockMs, readPetMs, readListMs, updateMs, rssBytes };
}

async function writeRows(path: string, count: number, shift = 0): Promise<void> {
  const file = Bun.file(path).writer();
  file.write("petId,name,category,tags,photoUrls,status,quantity\n");
  for (let id = 1; id <= count; id++) {
    file.write(
      `${id},Pet ${id},dogs,calm|small,https://example.test/${id}.jpg,sold,${id + shift}\n`,
    );
    if (id % 10_000 === 0) await file.flush();
  }
  await file.end();
}

/** The longest time one of these requests took; every one has to succeed. */
async function worst(
  isDone: () => boolean,
  ask: () => Promise<{ status: number }>,
): Promise<number> {
  let worstMs = 0;
  while (!isDone()) {
    const started = performance.now();
    expect((await ask()).status).toBe(200);
    worstMs = Math.max(worstMs, performance.now() - started);
    await Bun.sleep(5);
  }
  return worstMs;
}

/** How long nobody else could write, as seen from a connection of its own. */
async function longestLock(isDone: () => boolean, path: string): Promise<number> {
  const database = new Database(path);
  database.run("PRAGMA busy_timeout = 0");
  let longestMs = 0;
  let free = performance.now();
  while (!isDone()) {
    try {
      database.run("BEGIN IMMEDIATE");
      database.run("ROLLBACK");
      longestMs = Math.max(longestMs, performance.now() - free);
      free = performance.now();
    } catch {
      // Somebody is writing.
    }
    await Bun.sleep(2);
  }
  database.close();
  return longestMs;
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Math.round(value) : value;
}
