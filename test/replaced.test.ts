import { afterEach, beforeEach, expect, test } from "bun:test";
import { cpSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { enterLoadedPlace, type LoadedPlace } from "./support/crashes.ts";
import { untilUnready } from "./support/damage.ts";
import type { Served } from "./support/process.ts";
import { call } from "./support/service.ts";
import { expectUsageError } from "./support/usage-errors.ts";

let loaded: LoadedPlace;
let file: string;
beforeEach(async () => {
  loaded = await enterLoadedPlace();
  file = loaded.place.path("data/production.db");
});
afterEach(() => loaded.place.leave());

const list = (service: Pick<Served, "baseUrl">, etag?: string) =>
  call(service.baseUrl, "GET", "/inventory", {
    key: loaded.key,
    headers: etag ? { "If-None-Match": etag } : {},
  });

test("a list from before a restore is never taken for one from after it", async () => {
  const { serveHere, ask, clients } = loaded;
  cpSync(file, `${file}.copy`);
  let etag = "";
  await serveHere(async (before) => {
    await ask(before, clients[0]!);
    etag = (await list(before)).headers.get("etag")!;
    expect((await list(before, etag)).status).toBe(304);
  });

  cpSync(`${file}.copy`, file);
  rmSync(`${file}-changes`);
  await serveHere(async (after) => {
    await ask(after, clients[1]!);
    const fresh = await list(after, etag);
    expect(fresh.status).toBe(200);
    expect(fresh.text).toContain('{"petId":0,"quantity":0,');
  });
});

test("after the file was moved away, updates are refused and reads continue", async () => {
  const { place, ask, clients } = loaded;
  const service = await place.serve();
  expect((await ask(service, clients[0]!)).status).toBe(200);
  renameSync(file, `${file}.away`);
  expect((await ask(service, clients[0]!)).status).toBe(503);
  await untilUnready(service);
  expect((await list(service)).text).toContain('{"petId":0,"quantity":1,');
  // A new file with the old name is not the one that the service has open, and commands refuse it.
  writeFileSync(file, "");
  expect((await ask(service, clients[0]!)).status).toBe(503);
  expectUsageError(await place.runHere(["keys", "list"]), "its log says what to do");
  expect(statSync(file).size).toBe(0);
});
