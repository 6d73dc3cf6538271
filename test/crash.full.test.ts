import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { crashRepeatedly, enterLoadedPlace, type LoadedPlace } from "./support/crashes.ts";
import { petstore, type Served } from "./support/process.ts";
import { call } from "./support/service.ts";
import { until } from "./support/until.ts";

let loaded: LoadedPlace;
beforeEach(async () => {
  loaded = await enterLoadedPlace();
});
afterEach(() => loaded.place.leave());

test("several kills lose no acknowledged update, the later ones after a recovery", async () => {
  await crashRepeatedly(loaded, 3);
});

test("a kill loses no request count older than a second", async () => {
  const { place, key } = loaded;
  const service = await place.serve();
  const ask = (baseUrl: string) => call(baseUrl, "GET", "/nothing", { key });
  for (let at = 0; at < 20; at++) await ask(service.baseUrl);
  const database = new Database(place.path("data/production.db"), { readonly: true });
  const counted = database.query("SELECT day_count FROM usage");
  await until(() => counted.values()[0]?.[0] === 20, 3_000, "the stored count");
  database.close();
  service.kill("SIGKILL");
  await service.exited;
  await loaded.serveHere(async (again) => {
    const policy = (await ask(again.baseUrl)).headers.get("ratelimit");
    expect(policy).toContain(`"day";r=${100_000_000 - 21};`);
  });
});

test("on a full disk updates get 503 and reads continue; with space again updates work and none is lost", async () => {
  // A limit on the size of files acts as a full disk. Its signal is ignored, because a full disk
  // sends none.
  const wrapper = `trap "" XFSZ; ulimit -S -f 512; exec "${petstore}" "$@"`;
  const { place, clients, update } = loaded;
  const service = await place.serve(["serve"], { command: ["sh", "-c", wrapper, "sh"] });
  const statuses = new Set<number>();
  for (let round = 0; round < 200 && !statuses.has(503); round++) {
    for (const status of await Promise.all(clients.map((client) => update(service, client)))) {
      statuses.add(status);
    }
  }
  expect([...statuses].sort()).toEqual([200, 503]);
  // A single update may still fit where a group did not. Some more updates fill the rest.
  const last = clients[0]!;
  let refused = await loaded.ask(service, last);
  for (let round = 0; round < 5_000 && refused.status === 200; round++) {
    refused = await loaded.ask(service, last);
  }
  expect(refused.status).toBe(503);
  expect(refused.json).toMatchObject({ code: "unavailable", status: 503 });
  expect(refused.headers.get("retry-after")).not.toBeNull();
  expect((await call(service.baseUrl, "GET", "~/readyz")).status).toBe(200);
  await loaded.expectNothingLost(service);

  if (Bun.which("prlimit")) {
    Bun.spawnSync(["prlimit", "--pid", String(service.pid), "--fsize=unlimited:unlimited"]);
    expect(await Promise.all(clients.map((client) => update(service, client)))).toEqual(
      clients.map(() => 200),
    );
    // A write that succeeds at once after a failed one may just be smaller.
    const isWritable = async () => {
      await update(service, clients[0]!);
      return service.written().includes('"store writable again"');
    };
    await until(isWritable, 10_000, "the end of the failure");
  }
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
  // The operating system reports the limit as an error of the disk, not as a full disk.
  const cause = "the disk reports an error (SQLITE_IOERR_WRITE)";
  const story = eventsOf(service).filter(({ event }) => event !== "list reloaded");
  expect(story).toMatchObject([
    { event: "started" },
    { level: "error", event: "store not writable", reason: "unreachable", cause },
    { level: "error", event: "requests failing", reason: "unreachable", cause },
    ...(Bun.which("prlimit") ? [{ level: "info", event: "store writable again" }] : []),
    { event: "stopping" },
    { event: "stopped" },
  ]);
  expect((await place.runHere(["verify"])).code).toBe(0);
  await loaded.serveHere(async (restarted) => {
    await loaded.expectNothingLost(restarted);
    expect(await update(restarted, clients[0]!)).toBe(200);
  });
});

function eventsOf(service: Served): Record<string, unknown>[] {
  const lines = service.written().split("\n");
  return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
}
