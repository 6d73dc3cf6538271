// Imports large files while a service is under load, and measures the effect on its clients.
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { type ProbeReport, probeEnvironment, readProbe } from "../../bench/probe-client.ts";
import { openWorkspace, petstore, type Served, type Workspace } from "./process.ts";
import { call } from "./service.ts";

const importRssBytesMax = 200 * 1024 * 1024;

/** Reading the whole list takes much of a core, so it is read less often than an entry. */
const listPauseMs = 50;

/** Imports this many rows during load, prints the longest waits, and checks memory and result. */
export async function importBesideService(rowsCount: number): Promise<void> {
  const workspace = openWorkspace();
  try {
    await workspace.runHere(["pets", "import", "-"], { stdin: '{"petId":1,"name":"Before"}' });
    const key = await createKey(workspace);
    await writeRows(workspace.path("pets.csv"), rowsCount);
    const service = await workspace.serve();
    const figures = await importUnderLoad(workspace, service, key, rowsCount);
    console.log(`import of ${rowsCount} rows:`, JSON.stringify(figures, roundNumber));
    expect(figures.rssBytes).toBeLessThan(importRssBytesMax);
    const list = await call(service.baseUrl, "GET", "/inventory", { key });
    expect(list.json).toHaveLength(rowsCount);
    const verified = await workspace.json<{ entries: number; faults: string[] }>("verify");
    expect(verified).toMatchObject({ entries: rowsCount, faults: [] });
  } finally {
    await workspace.leave();
  }
}

/**
 * Imports this many rows, then imports them again with different quantities while the list is read.
 * Returns the measurements of the probe in the event loop during the second import.
 */
export async function probeImportOfChanges(rowsCount: number): Promise<ProbeReport> {
  const workspace = openWorkspace();
  try {
    const key = await createKey(workspace);
    const importRows = async (shift: number) => {
      await writeRows(workspace.path("pets.csv"), rowsCount, shift);
      return workspace.json("pets", "import", "pets.csv");
    };
    await importRows(0);
    const file = workspace.path("probe.json");
    const service = await workspace.serve(["serve"], { env: probeEnvironment(file) });
    await readProbe(service.pid, file);
    const headers = { Authorization: `Bearer ${key}` };
    const list = () => fetch(`${service.baseUrl}/inventory`, { headers });
    let isDone = false;
    const reads = slowest(
      () => isDone,
      async () => {
        const response = await list();
        await response.arrayBuffer();
        return response;
      },
      listPauseMs,
    );
    expect(await importRows(1)).toEqual({ created: 0, changed: rowsCount, unchanged: 0 });
    const last = await (await list()).text();
    isDone = true;
    await reads;
    expect(
      last.endsWith(`{"petId":${rowsCount},"quantity":${rowsCount + 1},"status":"sold"}]`),
    ).toBe(true);
    return await readProbe(service.pid, file);
  } finally {
    await workspace.leave();
  }
}

/** Creates a key whose limits the tests do not reach. */
async function createKey(workspace: Workspace): Promise<string> {
  const limits = ["--per-minute", "1000000", "--per-day", "100000000"];
  const flags = ["--name", "load", "--plan", "enterprise", ...limits];
  return (await workspace.json<{ key: string }>("keys", "create", ...flags)).key;
}

async function importUnderLoad(
  workspace: Workspace,
  service: Served,
  key: string,
  rowsCount: number,
) {
  const headers = { Authorization: `Bearer ${key}` };
  // Does not parse the body: that would count as latency of the service.
  const request = (method: string, path: string, body?: string) => async () => {
    const response = await fetch(service.baseUrl + path, { method, headers, body: body ?? null });
    await response.arrayBuffer();
    return response;
  };
  const started = performance.now();
  const importing = Bun.spawn([petstore, "pets", "import", "pets.csv", "--json"], {
    cwd: workspace.folder,
    stdout: "pipe",
    stderr: "inherit",
  });
  let isDone = false;
  const during = Promise.all([
    slowest(() => isDone, request("GET", "/pets/1")),
    slowest(() => isDone, request("GET", "/inventory"), listPauseMs),
    slowest(() => isDone, request("PATCH", "/inventory/1", '{"quantity":5}')),
    longestLock(() => isDone, workspace.path("data/production.db")),
    peakRss(() => isDone, importing.pid),
  ]);
  expect(await importing.exited).toBe(0);
  const importMs = performance.now() - started;
  isDone = true;
  const [readPetMs, readListMs, updateMs, lockMs, rssBytes] = await during;
  expect(await new Response(importing.stdout).json()).toEqual({
    created: rowsCount - 1,
    changed: 1,
    unchanged: 0,
  });
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

/** Repeats a request until done and returns the longest duration. Every response must be 200. */
async function slowest(
  isDone: () => boolean,
  send: () => Promise<{ status: number }>,
  pauseMs = 5,
): Promise<number> {
  let slowestMs = 0;
  while (!isDone()) {
    const started = performance.now();
    expect((await send()).status).toBe(200);
    slowestMs = Math.max(slowestMs, performance.now() - started);
    await Bun.sleep(pauseMs);
  }
  return slowestMs;
}

/** Returns the longest time for which another connection could not write. */
async function longestLock(isDone: () => boolean, path: string): Promise<number> {
  const database = new Database(path);
  database.run("PRAGMA busy_timeout = 0");
  let longestMs = 0;
  let lastFreeAt = performance.now();
  while (!isDone()) {
    try {
      database.run("BEGIN IMMEDIATE");
      database.run("ROLLBACK");
      longestMs = Math.max(longestMs, performance.now() - lastFreeAt);
      lastFreeAt = performance.now();
    } catch {
      // Another connection is writing.
    }
    await Bun.sleep(2);
  }
  database.close();
  return longestMs;
}

/**
 * Returns the largest memory of a process. Not from resourceUsage(): its maxRSS includes the memory
 * that this process had when it started the other one.
 */
async function peakRss(isDone: () => boolean, pid: number): Promise<number> {
  let peakBytes = 0;
  while (!isDone()) {
    try {
      const status = await Bun.file(`/proc/${pid}/status`).text();
      const [, kilobytes = "0"] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
      peakBytes = Math.max(peakBytes, 1024 * Number(kilobytes));
    } catch {
      // The process has ended.
    }
    await Bun.sleep(20);
  }
  expect(peakBytes).toBeGreaterThan(0);
  return peakBytes;
}

function roundNumber(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Math.round(value) : value;
}
