import { afterEach, beforeEach, expect, test } from "bun:test";
import { cpSync, renameSync, rmSync, statSync } from "node:fs";
import { enterLoadedPlace, type LoadedPlace } from "./crashing.ts";
import type { Served } from "./process.ts";
import { call } from "./service.ts";

let loaded: LoadedPlace;
let file: string;
beforeEach(async () => {
  loaded = await enterLoadedPlace();
  file = loaded.place.path("data/production.db");
});
afterEach(() => loaded.place.leave());

const list = (service: Served, etag?: string) =>
  call(service.baseUrl, "GET", "/inventory", {
    key: loaded.key,
    headers: etag ? { "If-None-Match": etag } : {},
  });

async function stop(service: Served): Promise<void> {
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
}

test("a list from before a copy of the store was put back is never taken for one from after", async () => {
  const { place, ask, clients } = loaded;
  cpSync(file, `${file}.copy`);
  const before = await place.serve();
  await ask(before, clients[0]!);
  const etag = (await list(before)).headers.get("etag")!;
  expect((await list(before, etag)).status).toBe(304);
  await stop(before);

  cpSync(`${file}.copy`, file);
  const after = await place.serve();
  await ask(after, clients[1]!);
  const fresh = await list(after, etag);
  expect(fresh.status).toBe(200);
  expect(fresh.text).toContain('{"petId":0,"quantity":0,');
});

test("an update to a file that was moved away is refused, and reads go on", async () => {
  const { place, ask, clients } = loaded;
  const service = await place.serve();
  expect((await ask(service, clients[0]!)).status).toBe(200);
  renameSync(file, `${file}.away`);
  expect((await ask(service, clients[0]!)).status).toBe(503);
  expect((await call(service.baseUrl, "GET", "~/readyz")).status).toBe(503);
  expect((await list(service)).text).toContain('{"petId":0,"quantity":1,');
  // A new file at the old name is not what this process has open.
  expect((await place.run(["keys", "list"])).code).toBe(0);
  expect((await ask(service, clients[0]!)).status).toBe(503);
});

test("the bell has its place on the disk from the start, so that a disk that fills up ends nobody", async () => {
  rmSync(`${file}-bell`);
  const service = await loaded.place.serve();
  expect((await list(service)).status).toBe(200);
  expect(statSync(`${file}-bell`).blocks).toBeGreaterThan(0);
});
