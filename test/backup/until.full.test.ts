import { afterAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { openWorkspace, petstore } from "../support/process.ts";
import { importPets } from "../support/stocking.ts";
import { until } from "../support/until.ts";

const place = openWorkspace();
afterAll(() => place.leave());
const into = (path: string) => ["--database", `sqlite:${path}`];

test("a disk that is full while later rows are added is named, and nothing is left", async () => {
  const file = place.path("first.petstore");
  const pets = Array.from({ length: 5_000 }, (_, id) => `{"petId":${id},"name":"pet ${id}"}`);
  const database = `sqlite:${place.path("many.db")}`;
  await importPets(database, pets[0]!);
  await place.json("backup", file, "--database", database);
  await importPets(database, ...pets);
  const path = place.path("full/store.db");
  // Files of at most 700 kB: enough for the backup.
  const limited = 'trap "" XFSZ; ulimit -S -f 1400; exec "$@"';
  const words = ["restore", file, "--ledger", database, ...into(path)];
  const ran = await place.run(words, { command: ["sh", "-c", limited, "sh", petstore] });
  const named = expect.stringContaining(`cannot write to ${place.path("full")}`);
  expect(ran).toMatchObject({ code: 2, err: named });
  expect(readdirSync(place.path("full"))).toEqual([]);
  expect((await place.run(words)).code).toBe(0);
});

test("a restore to a moment that is killed leaves no store", async () => {
  const [late, path] = [place.path("late.petstore"), place.path("killed/store.db")];
  const database = `sqlite:${place.path("live.db")}`;
  for (const id of [1, 2, 3, 4, 5]) await importPets(database, `{"petId":${id},"name":"pet"}`);
  await place.json("backup", late, "--database", database);
  const words = ["restore", late, "--until", "4", ...into(path)];
  const running = place.start(words);
  const scratch = () => existsSync(place.path("killed")) && readdirSync(place.path("killed"));
  await until(() => scratch() && readdirSync(place.path("killed")).length > 0, 20_000, "scratch");
  running.kill("SIGKILL");
  await running.exited;
  expect(existsSync(path)).toBe(false);
  expect((await place.runHere(words)).code).toBe(0);
});
