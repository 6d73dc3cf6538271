import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { crashAgainAndAgain, enterLoadedPlace, type LoadedPlace } from "./support/crashes.ts";
import { petstore } from "./support/process.ts";
import { call } from "./support/service.ts";

let loaded: LoadedPlace;
beforeEach(async () => {
  loaded = await enterLoadedPlace();
});
afterEach(() => loaded.place.leave());

test("no acknowledged update is lost over 10 kills in the middle of parallel updates", async () => {
  await crashAgainAndAgain(loaded, 10);
});

test("a kill loses no count that is more than a second old", async () => {
  const { place, key } = loaded;
  const service = await place.serve();
  const ask = (baseUrl: string) => call(baseUrl, "GET", "/nothing", { key });
  for (let at = 0; at < 20; at++) await ask(service.baseUrl);
  const database = new Database(place.path("data/production.db"), { readonly: true });
  const counted = database.query("SELECT day_count FROM usage");
  const deadline = performance.now() + 3_000;
  while (counted.values()[0]?.[0] !== 20) {
    expect(performance.now()).toBeLessThan(deadline);
    await Bun.sleep(20);
  }
  database.close();
  service.kill("SIGKILL");
  await service.exited;
  const again = await place.serve();
  const policy = (await ask(again.baseUrl)).headers.get("ratelimit");
  expect(policy).toContain(`"day";r=${100_000_000 - 21};`);
});

test("without room updates are answered 503 and reads go on; with room again all works, nothing lost", async () => {
  // A limit on the size of files stands for a full disk. The signal that comes with it is not part
  // of a full disk and is ignored.
  const wrapper = `trap "" XFSZ; ulimit -S -f 1024; exec "${petstore}" "$@"`;
  const { place, clients, update } = loaded;
  const service = await place.serve(["serve"], { command: ["sh", "-c", wrapper, "sh"] });
  const statuses = new Set<number>();
  for (let turn = 0; turn < 200 && !statuses.has(503); turn++) {
    for (const status of await Promise.all(clients.map((client) => update(service, client)))) {
      statuses.add(status);
    }
  }
  expect([...statuses].sort()).toEqual([200, 503]);
  // Where a whole group found no room, a lone update may still fit in; some more and none does.
  const last = clients[0]!;
  let refused = await loaded.ask(service, last);
  for (let turn = 0; turn < 5_000 && refused.status === 200; turn++) {
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
  }
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
  expect((await place.run(["verify"])).code).toBe(0);
  const roomy = await place.serve();
  await loaded.expectNothingLost(roomy);
  expect(await update(roomy, clients[0]!)).toBe(200);
});
