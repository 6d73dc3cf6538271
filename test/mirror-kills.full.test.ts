import { afterAll, expect, test } from "bun:test";
import { PetstoreClient } from "../client/src/index.ts";
import { CuttingProxy } from "./support/client/cutting-proxy.ts";
import { startExample } from "./support/example-process.ts";
import { openStoreWorkspace } from "./support/workspaces.ts";

const largestId = 9223372036854775807n;
const place = await openStoreWorkspace("sqlite");
afterAll(() => place.leave());
const startMirror = (env: Record<string, string>, ...words: string[]) =>
  startExample([process.execPath, "examples/mirror.ts", ...words], env);

test("mirror.ts misses no change and applies none twice, however often it and the service are killed", async () => {
  await place.importPets(...[7n, largestId].map((id) => `{"petId":${id},"name":"A"}`));
  const { key } = await place.createKey("mirror");
  let served = await place.serve();
  await using proxy = await CuttingProxy.start(served.baseUrl);
  const env = { BASE_URL: proxy.baseUrl, API_KEY: key, MIRROR_FILE: place.path("kills.db") };
  const client = new PetstoreClient({ baseUrl: proxy.baseUrl, apiKey: key, attemptsMax: 50 });
  const batch = [7n, largestId, 7n].map((petId) => ({ petId, delta: 1 }));
  const write = async () => {
    for (let at = 0; at < 50; at++) await client.applyChanges(batch);
  };
  let writing = Promise.resolve();
  {
    await using first = startMirror(env);
    await first.lineWith(/^loaded 2 pets/);
    writing = write();
    await first.lineWith("change");
  }
  await writing;
  {
    await using second = startMirror(env);
    await second.lineWith(/^continuing after change \d+$/);
    writing = write();
    await second.lineWith("change");
    served.kill("SIGKILL");
    await served.exited;
    served = await place.serve();
    proxy.switchTo(served.baseUrl);
    await second.lineWith(/^change 200:/);
  }
  await writing;
  await using third = startMirror(env);
  await third.lineWith(/change 302\b/);
  await using comparison = startMirror(env, "check");
  expect(await comparison.lineWith("the service")).toBe("equal to the service at change 302");
});
