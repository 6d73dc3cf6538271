import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, renameSync } from "node:fs";
import { untilMarked } from "./support/mark.ts";
import { openWorkspace } from "./support/process.ts";
import { call } from "./support/service.ts";
import { createKey, importPets, unlimited } from "./support/stocking.ts";

// One store: what an operator does after a kill, from the deleted log to the accepted loss.
const place = openWorkspace();
const file = place.path("data/production.db");
const database = `sqlite:${file}`;
let key: string;
beforeAll(async () => {
  await importPets(database, ...[1, 2, 3, 4].map((id) => `{"petId":${id},"name":"Rex"}`));
  key = (await createKey(database, { name: "till", ...unlimited })).key;
  const service = await place.serve();
  for (let quantity = 1; quantity <= 50; quantity++) {
    const request = { key, body: JSON.stringify({ quantity }) };
    expect((await call(service.baseUrl, "PATCH", "/inventory/1", request)).status).toBe(200);
  }
  await untilMarked(file, 54);
  service.kill("SIGKILL");
  await service.exited;
  renameSync(`${file}-wal`, place.path("wal"));
});
afterAll(() => place.leave());

const missing = /has the ledger up to row 4, but row 54 was acknowledged: 50 updates are missing/;

test("a start without the log that a kill has left is refused, and names what to do", async () => {
  for (const words of [
    ["serve", "--port", "0"],
    ["quickstart", "--port", "0"],
  ]) {
    const { code, out, err } = await place.run(words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(missing);
    expect(err).toContain("petstore serve --accept-older=4");
  }
});

test("verify and doctor fail, and no command changes the store", async () => {
  const verified = await place.run(["verify"]);
  expect(verified.code).toBe(1);
  expect(verified.out).toMatch(missing);
  const doctor = await place.run(["doctor", "--port", "0"]);
  expect(doctor.code).toBe(1);
  expect(doctor.out.replace(/\s+/g, " ")).toMatch(missing);
  const created = await place.run(["keys", "create", "--name", "a", "--plan", "free"]);
  expect(created).toMatchObject({ code: 2, out: "" });
  expect(created.err).toMatch(missing);
});

test("with its log, the store has every update again", async () => {
  renameSync(place.path("wal"), `${file}-wal`);
  const service = await place.serve();
  const list = await call(service.baseUrl, "GET", "/inventory/1", { key });
  expect(list.json).toMatchObject({ quantity: 50 });
  const request = { key, body: '{"quantity":51}' };
  expect((await call(service.baseUrl, "PATCH", "/inventory/1", request)).status).toBe(200);
  await untilMarked(file, 55);
  service.kill("SIGKILL");
  await service.exited;
  renameSync(`${file}-wal`, place.path("wal"));
});

test("the loss can be accepted once, by the row that was found", async () => {
  const refused = await place.run(["serve", "--port", "0", "--accept-older=4"]);
  expect(refused).toMatchObject({ code: 2, out: "" });
  const service = await place.serve(["serve", "--accept-older=54"]);
  await service.wrote('"older store accepted"');
  const found = await call(service.baseUrl, "GET", "/inventory/1", { key });
  expect(found.json).toMatchObject({ quantity: 50 });
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
  expect(existsSync(`${file}-wal`)).toBe(false);
  const next = await place.serve();
  next.kill("SIGTERM");
  expect(await next.exited).toBe(0);
  expect(next.written()).not.toContain("older store");
  expect((await place.run(["verify"])).code).toBe(0);
});
