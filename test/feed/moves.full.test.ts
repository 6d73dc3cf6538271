import { afterEach, beforeEach, expect, test } from "bun:test";
import { cpSync, rmSync } from "node:fs";
import { openFeed } from "../support/feed.ts";
import { upTo } from "../support/history.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { startTestService, type TestService } from "../support/service.ts";

let place: Workspace;
const services: TestService[] = [];
beforeEach(() => {
  place = openWorkspace();
});
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop();
  await place.leave();
});

async function start(database: string): Promise<TestService> {
  const engine = database.startsWith("sqlite:") ? "sqlite" : "postgres";
  const service = await startTestService(engine, { database });
  services.push(service);
  return service;
}

async function stop(): Promise<void> {
  for (const service of services.splice(0)) await service.stop();
}

const addPets = (service: TestService, first: number, last: number) =>
  service.addPets(...upTo(last, first).map((id) => ({ petId: BigInt(id) })));

test("a reader continues without a gap after the store moved to PostgreSQL, and back to SQLite", async () => {
  const stores = [
    `sqlite:${place.path("first.db")}`,
    await createdDatabase(),
    `sqlite:${place.path("third.db")}`,
  ];
  let key = "";
  let cursor = "";
  const seen: number[] = [];
  for (const [at, database] of stores.entries()) {
    if (at > 0) {
      const words = ["migrate-store", "--from", stores[at - 1]!, "--to", database];
      const created = `petstore: created the store ${place.path("third.db")}\n`;
      expect(await place.runHere(words)).toMatchObject({ code: 0, err: at === 1 ? "" : created });
    }
    const service = await start(database);
    if (key === "") key = (await service.issueKey()).text;
    const feed = await openFeed(service.baseUrl, {
      key,
      ...(cursor === "" ? { query: "?after=0" } : { headers: { "Last-Event-ID": cursor } }),
    });
    expect(feed.events[0]).toMatchObject({ kind: "heartbeat", seq: at * 10 - (at > 0 ? 3 : 0) });
    await addPets(service, at * 10 + 1, at * 10 + 10);
    // The reader stops before the end, so the next store sends rows that the last one wrote.
    seen.push(...(await feed.changes(at === 0 ? 7 : 10)));
    cursor = feed.events.find(({ seq }) => seq === seen.at(-1))!.id;
    await stop();
  }
  expect(seen).toEqual(upTo(27));
});

test("a reader of rows that a restored backup does not have gets a reset, and one of older rows does not", async () => {
  const file = place.path("shop.db");
  let service = await start(`sqlite:${file}`);
  const { text: key } = await service.issueKey();
  await addPets(service, 1, 5);
  await stop();
  cpSync(file, `${file}.copy`);
  service = await start(`sqlite:${file}`);
  await addPets(service, 6, 9);
  const before = await openFeed(service.baseUrl, { key, query: "?after=0" });
  await before.changes(9);
  const cursorAt = (seq: number) => before.events.find((event) => event.seq === seq)!.id;
  const [kept, lost] = [cursorAt(4), cursorAt(8)];
  await stop();

  cpSync(`${file}.copy`, file);
  rmSync(`${file}-changes`);
  service = await start(`sqlite:${file}`);
  // Row 8 exists again, with other content.
  await addPets(service, 106, 109);
  const reset = await openFeed(service.baseUrl, { key, headers: { "Last-Event-ID": lost } });
  expect(reset.events[0]).toMatchObject({ kind: "reset", seq: 9 });
  await addPets(service, 110, 110);
  expect(await reset.changes(1)).toEqual([10]);
  const older = await openFeed(service.baseUrl, { key, headers: { "Last-Event-ID": kept } });
  expect(older.events[0]).toMatchObject({ kind: "heartbeat", seq: 4 });
  expect(await older.changes(6)).toEqual(upTo(10, 5));
  expect(older.events.find(({ seq }) => seq === 8)!.text).toContain('"petId":108,');
});
