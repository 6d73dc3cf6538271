import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { importedRows, longTestMs } from "./endurance.ts";
import { enterPlace, type Place, petstore, type Served } from "./process.ts";
import { call } from "./service.ts";

const importRssBytesMax = 200 * 1024 * 1024;

let place: Place;
let service: Served;
let key: string;
beforeAll(async () => {
  place = enterPlace();
  await place.run(["pets", "import", "-"], { stdin: '{"petId":1,"name":"Before"}' });
  const plan = ["--plan", "enterprise", "--per-minute", "1000000", "--per-day", "100000000"];
  ({ key } = await place.json<{ key: string }>("keys", "create", "--name", "load", ...plan));
  service = await place.serve();
});
afterAll(() => place.leave());

test(
  `an import of ${importedRows} rows streams, and a running service goes on answering`,
  async () => {
    await writeRows(place.path("pets.csv"), importedRows);
    const importing = Bun.spawn([petstore, "pets", "import", "pets.csv", "--json"], {
      cwd: place.folder,
      stdout: "pipe",
      stderr: "inherit",
    });
    const started = performance.now();
    let isDone = false;
    const during = Promise.all([
      worst(() => isDone, readPet),
      worst(() => isDone, readList),
      worst(() => isDone, updatePet),
      longestLock(() => isDone),
    ]);
    expect(await importing.exited).toBe(0);
    const importMs = performance.now() - started;
    isDone = true;
    const [readPetMs, readListMs, updateMs, lockMs] = await during;
    expect(await new Response(importing.stdout).json()).toEqual({
      created: importedRows - 1,
      changed: 1,
      unchanged: 0,
    });
    const rssBytes = importing.resourceUsage()!.maxRSS;
    const figures = { importMs, lockMs, readPetMs, readListMs, updateMs, rssBytes };
    console.log(`import of ${importedRows} rows:`, JSON.stringify(figures, rounded));
    expect(rssBytes).toBeLessThan(importRssBytesMax);

    const list = await call(service.baseUrl, "GET", "/inventory", { key });
    expect(list.json).toHaveLength(importedRows);
    const verified = await place.json<{ entries: number; faults: string[] }>("verify");
    expect(verified).toMatchObject({ entries: importedRows, faults: [] });
  },
  longTestMs,
);

async function writeRows(path: string, count: number): Promise<void> {
  const file = Bun.file(path).writer();
  file.write("petId,name,category,tags,photoUrls,status,quantity\n");
  for (let id = 1; id <= count; id++) {
    file.write(`${id},Pet ${id},dogs,calm|small,https://example.test/${id}.jpg,sold,${id}\n`);
    if (id % 10_000 === 0) await file.flush();
  }
  await file.end();
}

const readPet = () => call(service.baseUrl, "GET", "/pets/1", { key });
const readList = () => call(service.baseUrl, "GET", "/inventory", { key });
const updatePet = () =>
  call(service.baseUrl, "PATCH", "/inventory/1", { key, body: '{"quantity":5}' });

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
async function longestLock(isDone: () => boolean): Promise<number> {
  const database = new Database(place.path("data/production.db"));
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
