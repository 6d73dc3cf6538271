import { afterAll, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { openWorkspace, petstore } from "../support/process.ts";
import { importPets } from "../support/stocking.ts";
import { until } from "../support/until.ts";

const place = openWorkspace();
afterAll(() => place.leave());

test("a backup that is killed, interrupted or out of space leaves no file under its name", async () => {
  const database = `sqlite:${place.path("large.db")}`;
  const pets = Array.from({ length: 10_000 }, (_, at) => `{"petId":${at},"name":"Pet ${at}"}`);
  await importPets(database, ...pets);
  const words = (name: string) => ["backup", place.path(name), "--database", database];
  const temporary = (name: string) =>
    readdirSync(place.folder).filter((found) => found.startsWith(`.${name}.`));
  for (const signal of ["SIGKILL", "SIGTERM"] as const) {
    const name = `${signal.toLowerCase()}.petstore`;
    const running = place.start(words(name));
    await until(() => temporary(name).length > 0, 20_000, "the temporary file");
    running.kill(signal);
    expect(await running.exited).not.toBe(0);
    expect(existsSync(place.path(name))).toBe(false);
    expect(temporary(name).length).toBe(signal === "SIGKILL" ? 1 : 0);
  }
  const limited = `trap "" XFSZ; ulimit -S -f 512; exec "${petstore}" "$@"`;
  const full = await place.run(words("full.petstore"), { command: ["sh", "-c", limited, "sh"] });
  expect(full.code).toBe(2);
  expect(full.err).toMatch(/cannot write .*full\.petstore: /);
  expect([existsSync(place.path("full.petstore")), temporary("full.petstore")]).toEqual([
    false,
    [],
  ]);
  const drilled = place.path("private.petstore");
  await place.json("backup", drilled, "--database", database);
  expect(statSync(drilled).mode & 0o777).toBe(0o600);
  const cramped = await place.run(["drill", drilled, "--database", database], {
    command: ["sh", "-c", limited, "sh"],
  });
  expect(cramped.code).toBe(1);
  expect(cramped.err).toMatch(/cannot write to .*scratch/);
  // A drill that is interrupted removes its scratch folder.
  const scratch = () => readdirSync(place.folder).filter((name) => name.includes("scratch"));
  const drill = place.start(["drill", drilled, "--database", database]);
  await until(() => scratch().length > 0, 20_000, "the scratch folder");
  drill.kill("SIGINT");
  expect(await drill.exited).toBe(130);
  expect(scratch()).toEqual([]);
});
