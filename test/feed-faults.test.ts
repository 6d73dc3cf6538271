import { expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFeed, type TestFeed } from "./support/feed.ts";
import { startTestService, type TestService } from "./support/service.ts";

function setQuantity(service: TestService, key: string, quantity: number) {
  return service.call("PATCH", "/inventory/1", { key, body: `{"quantity":${quantity}}` });
}

const cursorsOf = (feed: TestFeed) =>
  feed.events.filter(({ kind }) => kind === "change").map(({ id }) => id);

test("after a restore, the feed continues after cursors of rows that the copy has, and resets those of rows that it lacks", async () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-feed-"));
  const [path, copy] = [join(folder, "test.db"), join(folder, "copy.db")];
  const start = () => startTestService("sqlite", { database: `sqlite:${path}` });
  let service = await start();
  await service.addPets({ petId: 1n });
  const { text: key } = await service.issueKey();
  let feed = await openFeed(service.baseUrl, { key, query: "?after=0" });
  await setQuantity(service, key, 1);
  await feed.changes(2);
  const kept = cursorsOf(feed);
  await service.stop();
  copyFileSync(path, copy);

  service = await start();
  feed = await openFeed(service.baseUrl, { key, headers: { "Last-Event-ID": kept.at(-1)! } });
  for (const quantity of [2, 3]) await setQuantity(service, key, quantity);
  await feed.changes(2);
  const lost = cursorsOf(feed);
  await service.stop();
  for (const ending of ["", "-wal", "-shm", "-changes"]) rmSync(path + ending, { force: true });
  copyFileSync(copy, path);

  service = await start();
  const firstEvent = async (cursor: string) => {
    const opened = await openFeed(service.baseUrl, { key, headers: { "Last-Event-ID": cursor } });
    opened.leave();
    const { kind, seq } = opened.events[0]!;
    return `${kind} ${seq}`;
  };
  // Before and after the ledger has its earlier length again, with other content.
  for (const head of [2, 5]) {
    const events = await Promise.all([...kept, ...lost].map(firstEvent));
    const reset = `reset ${head}`;
    expect(events).toEqual(["heartbeat 1", "heartbeat 2", reset, reset]);
    for (const quantity of [4, 5, 6]) await setQuantity(service, key, quantity);
  }
  await service.stop();
  rmSync(folder, { recursive: true });
});

test("a text with line breaks of any kind is one line of its event", async () => {
  const service = await startTestService("sqlite");
  await service.addPets({ petId: 1n });
  const name = 'a\n\nevent: reset\ndata: {"seq":0}\n\n\r\u0000\u0085\u2028\u2029';
  const { text: key } = await service.issueKey({ name });
  const feed = await openFeed(service.baseUrl, { key });
  const reason = "one\u2028two\u2029three";
  const body = JSON.stringify({ changes: [{ petId: 1, delta: 1, reason }] });
  expect((await service.call("POST", "/changes", { key, body })).status).toBe(200);
  const { text } = await feed.nextOf("change");
  expect(text).not.toMatch(/[\r\n\u0085\u2028\u2029]/);
  const row = JSON.parse(text);
  expect(row).toMatchObject({ keyName: name, reason });
  const page = await service.call("GET", "/changes?after=1", { key });
  expect(page.json).toEqual([row]);
  feed.leave();
  await service.stop();
});
