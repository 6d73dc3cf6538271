import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createChangeReceiver } from "../../src/store/sqlite/engine/change-signal.ts";
import { openForReading } from "../../src/store/sqlite/engine/connection.ts";
import { filesOf } from "../../src/store/sqlite/engine/files.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { examineStore, findingsOf } from "../support/doctor.ts";
import { markOf, untilMarked } from "../support/mark.ts";
import { overwrite } from "../support/mistakes.ts";
import { openWorkspace } from "../support/process.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { createKey, importPets, unlimited } from "../support/stocking.ts";
import { until } from "../support/until.ts";

const place = openWorkspace();
afterAll(() => place.leave());

/** A store as a kill has left it: 4 rows are in the database file, and 50 more only in its log. */
const source = place.path("source/production.db");
const [inDatabase, acknowledged] = [4, 54];
/** A copy of the database from before its service started. */
const older = place.path("older.db");
const filesKilled = ["", "-wal", "-changes"];
let key: string;
let quantity = 0;
beforeAll(async () => {
  const path = place.path("first/production.db");
  await importPets(`sqlite:${path}`, ...[1, 2, 3, 4].map((id) => `{"petId":${id},"name":"Rex"}`));
  key = (await createKey(`sqlite:${path}`, { name: "till", ...unlimited })).key;
  cpSync(path, older);
  const service = await serve(path);
  await update(service, acknowledged - inDatabase);
  await untilMarked(path, acknowledged);
  mkdirSync(place.path("source"));
  for (const ending of filesKilled) cpSync(path + ending, source + ending);
  await service.stop();
});

const serve = (path: string, acceptOlder?: number) =>
  startTestService("sqlite", { database: `sqlite:${path}` }, {}, { acceptOlder });

async function update(service: TestService, times: number): Promise<void> {
  for (let turn = 0; turn < times; turn++) {
    quantity += 1;
    const request = { key, body: JSON.stringify({ quantity }) };
    expect((await service.call("PATCH", "/inventory/1", request)).status).toBe(200);
  }
}

let copies = 0;
/** A copy of the killed store, without the files with these endings. */
function killed({ without = [] as readonly string[] } = {}): string {
  const path = place.path(`${++copies}/production.db`);
  mkdirSync(place.path(`${copies}`));
  for (const ending of filesKilled) {
    if (!without.includes(ending)) cpSync(source + ending, path + ending);
  }
  return path;
}

/** Serves a store, stops it, and returns the last row and what was logged. */
async function servedOnce(path: string, acceptOlder?: number) {
  const service = await serve(path, acceptOlder);
  const { seq } = await service.store.history.readTip();
  await service.stop();
  return { seq, logged: service.logged.map((line) => JSON.parse(line)) };
}

async function expectRefused(path: string, acceptOlder?: number): Promise<void> {
  await expect(serve(path, acceptOlder)).rejects.toThrow(/row \d+ was acknowledged/);
}

const missing = `the store has the ledger up to row ${inDatabase}, but row ${acknowledged} was acknowledged: 50 updates are missing`;
const refusal = new RegExp(
  `production\\.db: ${missing}; .*-wal file was deleted.*older copy.*restore a backup.*petstore serve --accept-older=${inDatabase}\n$`,
);

describe("a store whose log was deleted after a kill", () => {
  test("is not served unless the row that was found is accepted, and is served with its log", async () => {
    const path = killed();
    renameSync(`${path}-wal`, `${path}.away`);
    const before = readFileSync(path);
    const words = ["serve", "--port", "0", "--database", `sqlite:${path}`];
    const ran = await place.runHere(words);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toMatch(refusal);
    for (const other of [0, inDatabase - 1, acknowledged]) await expectRefused(path, other);
    expect(readFileSync(path)).toEqual(before);
    expect(markOf(path)).toBe(acknowledged);
    renameSync(`${path}.away`, `${path}-wal`);
    expect((await servedOnce(path)).seq).toBe(acknowledged);
  });

  test("is not changed by a command, and can be read", async () => {
    const path = killed({ without: ["-wal"] });
    const database = ["--database", `sqlite:${path}`];
    writeFileSync(place.path("pets.ndjson"), '{"petId":9,"name":"New"}');
    for (const words of [
      ["keys", "create", "--name", "a", "--plan", "free"],
      ["pets", "import", place.path("pets.ndjson")],
    ]) {
      const ran = await place.runHere([...words, ...database]);
      expect(ran).toMatchObject({ code: 2, out: "" });
      expect(ran.err).toMatch(refusal);
    }
    expect(await place.runHere(["snapshot", "4", ...database])).toMatchObject({ code: 0 });
    expect(markOf(path)).toBe(acknowledged);
  });

  test("is a fault for verify and a problem for doctor", async () => {
    const path = killed({ without: ["-wal"] });
    const verified = await place.runHere(["verify", "--database", `sqlite:${path}`]);
    expect(verified.code).toBe(1);
    expect(verified.out).toStartWith(`${missing}\n1 fault found`);
    const find = async (file: string) =>
      findingsOf(await examineStore(`sqlite:${file}`), "last row");
    expect(await find(path)).toMatchObject([{ result: "problem", found: missing }]);
    expect(await find(killed())).toMatchObject([
      { result: "ok", found: "no acknowledged row is missing" },
    ]);
  });

  test("is served in a new epoch once it is accepted, and Overview and the log say so", async () => {
    const path = killed({ without: ["-wal"] });
    const service = await serve(path, inDatabase);
    expect(service.logged.map((line) => JSON.parse(line))).toContainEqual({
      event: "older store accepted",
      store: path,
      found: inDatabase,
      acknowledged,
    });
    const operator = (await issueOperator(service)).text;
    const { json } = await service.call("GET", "~/admin/service", { key: operator });
    expect((json as { attention: unknown }).attention).toContainEqual({
      severity: "problem",
      text: `Acknowledged updates are missing: rows 5 to 54 of the ledger. The service was started with --accept-older=${inDatabase}.`,
      view: "overview",
    });
    const epochs = await service.store.inventory.listEpochs();
    expect(epochs.slice(-2).map(({ fromSeq }) => fromSeq)).toEqual([inDatabase, inDatabase]);
    await update(service, 2);
    await untilMarked(path, inDatabase + 2);
    await service.stop();
  });

  test("is accepted once: another loss needs another number", async () => {
    const path = killed({ without: ["-wal"] });
    const service = await serve(path, inDatabase);
    await update(service, 3);
    await service.stop();
    const before = readFileSync(path);
    const again = await serve(path, inDatabase);
    expect(again.logged.join()).not.toContain("older store accepted");
    await update(again, 3);
    await again.stop();
    expect((await servedOnce(path)).seq).toBe(inDatabase + 6);
    overwrite(path, before);
    await expectRefused(path, inDatabase);
    expect((await servedOnce(path, inDatabase + 3)).seq).toBe(inDatabase + 3);
  });
});

describe("the mark", () => {
  test("shows that a copy from before the last start took the store's place", async () => {
    const path = killed({ without: ["-wal"] });
    cpSync(older, path);
    await expectRefused(path);
    expect((await servedOnce(path, inDatabase)).seq).toBe(inDatabase);
  });

  test("is kept by a regular stop, by a command and by what another process deletes", async () => {
    const path = killed();
    expect((await servedOnce(path)).seq).toBe(acknowledged);
    expect(markOf(path)).toBe(acknowledged);
    const copy = readFileSync(path);
    await importPets(`sqlite:${path}`, '{"petId":5,"name":"Rex"}');
    expect(markOf(path)).toBe(acknowledged + 1);
    overwrite(path, copy);
    await expectRefused(path);
    // A service writes it again if its file is deleted while it runs.
    expect((await servedOnce(path, acknowledged)).seq).toBe(acknowledged);
    const service = await serve(path);
    rmSync(`${path}-changes`);
    await until(() => existsSync(`${path}-changes`), 5_000, "the new file");
    await untilMarked(path, acknowledged);
    await service.stop();
  });

  test("is written by a service also after a command beside it", async () => {
    const path = killed();
    const service = await serve(path);
    await importPets(`sqlite:${path}`, '{"petId":5,"name":"Rex"}');
    await untilMarked(path, acknowledged + 1);
    await service.stop();
  });

  test("is not needed: a store without one, or with a part of one, is served and gets one", async () => {
    const torn = killed({ without: ["-wal"] });
    overwrite(`${torn}-changes`, Buffer.alloc(64, " "));
    const short = killed({ without: ["-wal"] });
    writeFileSync(`${short}-changes`, new Uint8Array(20));
    const changed = killed({ without: ["-wal"] });
    const bytes = readFileSync(`${changed}-changes`);
    bytes.write("9", bytes.indexOf('"seq":5') + '"seq":'.length);
    writeFileSync(`${changed}-changes`, bytes);
    const cut = killed({ without: ["-wal"] });
    truncateSync(`${cut}-changes`, 60);
    const empty = killed({ without: ["-wal"] });
    truncateSync(`${empty}-changes`);
    const none = killed({ without: ["-wal", "-changes"] });
    for (const path of [torn, short, changed, cut, empty, none]) {
      const { seq, logged } = await servedOnce(path);
      expect(seq).toBe(inDatabase);
      expect(logged).toContainEqual({ event: "mark missing", store: path });
      expect(markOf(path)).toBe(inDatabase);
      expect((await servedOnce(path)).logged.join()).not.toContain("mark missing");
    }
  });

  test("is not written into a truncated file, which would hide the damage", () => {
    const path = killed();
    using database = openForReading(path);
    const signal = createChangeReceiver(database, filesOf(path));
    truncateSync(`${path}-changes`);
    signal.mark();
    expect(statSync(`${path}-changes`).size).toBe(0);
    signal.close();
  });

  test("does not go back with an older index of the log, on which no update is stored", async () => {
    const path = killed();
    const service = await serve(path);
    await update(service, 2);
    const older = readFileSync(`${path}-shm`);
    await update(service, 2);
    await untilMarked(path, acknowledged + 4);
    overwrite(`${path}-shm`, older);
    const request = { key, body: '{"quantity":1}' };
    expect((await service.call("PATCH", "/inventory/2", request)).status).toBe(503);
    await service.stop();
    expect(markOf(path)).toBe(acknowledged + 4);
    await expectRefused(path);
  });

  test("of another store is not compared", async () => {
    const path = place.path("other/production.db");
    await importPets(`sqlite:${path}`, '{"petId":1,"name":"Rex"}');
    cpSync(`${source}-changes`, `${path}-changes`);
    expect((await servedOnce(path)).seq).toBe(1);
    expect(markOf(path)).toBe(1);
  });

  test("is written by restore, to its end or to a moment", async () => {
    const path = killed();
    const backup = place.path(`${copies}.petstore`);
    expect(await place.runHere(["backup", backup, "--database", `sqlite:${path}`])).toMatchObject({
      code: 0,
    });
    await importPets(`sqlite:${path}`, '{"petId":5,"name":"Rex"}');
    for (const [more, seq] of [
      [[], acknowledged],
      [["--until", "40"], 40],
    ] as const) {
      // The mark of the lost store is left there.
      for (const ending of ["", "-wal", "-shm"]) rmSync(path + ending, { force: true });
      const words = ["restore", backup, ...more, "--database", `sqlite:${path}`];
      expect(await place.runHere(words)).toMatchObject({ code: 0 });
      expect(markOf(path)).toBe(seq);
      expect(await servedOnce(path)).toMatchObject({ seq, logged: [] });
    }
  });
});
