import { expect, test } from "bun:test";
import { call, startTestService, surfaceEngine } from "../support/service.ts";
import { until } from "../support/until.ts";
import { expectUsageError } from "../support/usage-errors.ts";
import { openStoreWorkspace } from "../support/workspaces.ts";

const engine = surfaceEngine;

test(`petstore requests on ${engine} shows why requests of a key got errors, the newest last, and follows new ones`, async () => {
  const place = await openStoreWorkspace(engine);
  const { key, id } = await place.createKey("Till 3");
  await place.importPets('{"petId":1,"name":"Rex"}');
  const services = [await startTestService(engine, { database: place.database })];
  // Two instances of a store on PostgreSQL. One process serves a store on SQLite.
  if (engine === "postgres") {
    services.push(await startTestService(engine, { database: place.database }));
  }
  const send = (index: number, method: string, path: string, body?: string) =>
    call(services[index % services.length]!.baseUrl, method, path, {
      key,
      ...(body && { body }),
    });
  try {
    await send(0, "PATCH", "/inventory/1", '{"quantity":-1}');
    await send(1, "GET", "/inventory/404");
    const rows = (...words: string[]) =>
      place.rows<{ code: string; seq: number; keyName: string }>("requests", ...words);
    await until(async () => (await rows("--key", id)).length === 2, 5_000, "both requests");
    const printed = (await place.runHere(["requests", "--key", id])).out;
    expect(printed).toMatch(/^at +key +request +id +ms +status +code +message$/m);
    expect(printed).toMatch(
      /Z {2}Till 3 {2}PATCH \/v1\/inventory\/1 +req_\w+ +\d+ +400 {2}invalid_request +Field 'quantity' must/,
    );
    expect(await rows("--code", "not_found")).toMatchObject([{ keyName: "Till 3" }]);
    expect(await rows("--key", "none")).toEqual([]);
    const both = await rows();
    expect(Object.keys(both[0]!).join()).toBe(
      "seq,requestId,keyId,keyName,at,method,path,status,code,message,durationMs,userAgent",
    );
    expect(both.map(({ seq }) => seq)).toEqual(both.map(({ seq }) => seq).sort());

    const follower = place.start(["requests", "--key", id, "--follow", "--json"]);
    await follower.wrote('"code":"not_found"');
    await send(1, "PUT", "/inventory");
    await follower.wrote('"code":"method_not_allowed"');
    follower.kill("SIGTERM");
    expect(await follower.exited).toBe(0);
    expect(follower.written().trim().split("\n")).toHaveLength(3);

    const run = (...words: string[]) => place.runHere(["requests", ...words]);
    expectUsageError(await run("--code", "oops"), "--code must be one of invalid_request, ");
    expectUsageError(await run("--key", "key_0"), "there is no key");
  } finally {
    for (const service of services) await service.stop();
    await place.leave();
  }
});
