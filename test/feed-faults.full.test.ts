import { expect, test } from "bun:test";
import { readConfig } from "../src/config.ts";
import { openFeed, type TestFeed } from "./support/feed.ts";
import { startPostgres } from "./support/postgres.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { connectRaw } from "./support/socket.ts";
import { setUnit } from "./support/units.ts";
import { until } from "./support/until.ts";

function setQuantity(service: TestService, key: string, quantity: number) {
  return service.call("PATCH", "/inventory/1", { key, body: `{"quantity":${quantity}}` });
}

const cursorsOf = (feed: TestFeed) =>
  feed.events.filter(({ kind }) => kind === "change").map(({ id }) => id);

test("a stream that finds no match in a long ledger does not delay the others", async () => {
  const service = await startTestService("sqlite");
  await service.addPets({ petId: 1n });
  const group = Array.from({ length: 1_000 }, (_, quantity) => setUnit(1n, quantity));
  for (let turn = 0; turn < 40; turn++) await service.store.inventory.commit(group);
  // The only match after the first row is the last row.
  await service.addPets({ petId: 2n });
  const { text: key } = await service.issueKey();
  const live = await openFeed(service.baseUrl, { key });
  const searching = await openFeed(service.baseUrl, { key, query: "?after=1&cause=import" });
  await setQuantity(service, key, 7);
  expect(await live.changes(1)).toEqual([40_003]);
  expect(cursorsOf(searching)).toEqual([]);
  expect(await searching.changes(1)).toEqual([40_002]);
  for (const feed of [live, searching]) feed.leave();
  await service.stop();
});

test("while PostgreSQL does not respond, open streams get heartbeats, and clients that leave leave nothing behind", async () => {
  const server = await startPostgres();
  const database = await server.freshDatabase();
  const { feed: bounds } = readConfig({ database }, {});
  const heartbeatMsMax = 200;
  const service = await startTestService(
    "postgres",
    { database, "streams-per-key": "2" },
    { feed: { ...bounds, heartbeatMsMax } },
  );
  await service.addPets({ petId: 1n });
  const [{ text: key }, other] = [await service.issueKey(), await service.issueKey()];
  const feed = await openFeed(service.baseUrl, { key });
  (await openFeed(service.baseUrl, { key: other.text })).leave();
  server.pause();
  const leaving = await Promise.all([1, 2].map(() => connectRaw(service.baseUrl)));
  for (const client of leaving) {
    client.send(
      `GET /v1/changes HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${other.text}\r\n\r\n`,
    );
  }
  const beats = () => feed.events.length;
  const before = beats();
  await until(() => beats() >= before + 2, 8_000, "heartbeats");
  for (const client of leaving) client.abort();
  await until(() => beats() >= before + 4, 4 * heartbeatMsMax + 400, "heartbeats");
  server.resume();
  // Both streams of the key are free again.
  const again: TestFeed[] = [];
  const open = async () => {
    const opened = await openFeed(service.baseUrl, { key: other.text }).catch(() => undefined);
    if (opened) again.push(opened);
    return again.length === 2;
  };
  await until(open, 8_000, "two streams");
  await setQuantity(service, key, 5);
  for (const one of [feed, ...again]) expect(await one.changes(1)).toEqual([2]);
  expect(service.logged.filter((line) => line.includes('"bug"'))).toEqual([]);
  for (const one of [feed, ...again]) one.leave();
  await service.stop();
  await server.destroy();
});
