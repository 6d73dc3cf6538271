import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { type ObjectStorage, startObjectStorage } from "../support/object-storage.ts";
import { createdDatabase } from "../support/postgres-template.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { surfaceEngine } from "../support/service.ts";
import { importPets, verifyStore } from "../support/stocking.ts";

let storage: ObjectStorage;
let place: Workspace;

beforeAll(async () => {
  storage = await startObjectStorage();
  place = openWorkspace(storage.variables);
});
afterEach(() => {
  storage.fault = () => undefined;
  storage.objects.clear();
  storage.uploads.clear();
});
afterAll(async () => {
  await place.leave();
  storage.stop();
});

describe("commands", () => {
  const address = "s3://backups/shop/monday.petstore";

  const engine = surfaceEngine;
  test(`a backup of ${engine} in a bucket is drilled and restored, encrypted or not`, async () => {
    const database =
      engine === "sqlite" ? `sqlite:${place.path("shop.db")}` : await createdDatabase();
    await importPets(database, '{"petId":9223372036854775807,"name":"Rex","quantity":3}');
    const keyFile = place.path("backup.key");
    writeFileSync(keyFile, `${randomBytes(32).toString("hex")}\n`);
    for (const key of [[], ["--backup-key-file", keyFile]]) {
      storage.objects.clear();
      const made = await place.json("backup", address, "--database", database, ...key);
      expect(made).toMatchObject({ file: address, seq: 1 });
      const again = await place.runHere(["backup", address, "--database", database, ...key]);
      expect(again.err).toContain(`${address} exists, and a backup never replaces a file`);
      const drill = await place.json("drill", address, "--database", database, ...key);
      expect(drill).toMatchObject({ file: address, succeeded: true, recorded: true });
      const target =
        engine === "sqlite"
          ? await createdDatabase()
          : `sqlite:${place.path(`restored-${key.length}.db`)}`;
      const { seq, hash } = await place.json<{ seq: number; hash: string }>(
        ...["restore", address, "--database", target, ...key],
      );
      expect(await verifyStore(target, { seq, hash })).toMatchObject({ faultCount: 0, seq: 1 });
    }
    const missing = await place.runHere(["drill", `${address}x`, "--database", database]);
    expect(missing).toMatchObject({ code: 2, err: expect.stringContaining("no such file") });
  });

  test("a store that is lost is not created while its bucket has backups, or cannot be reached", async () => {
    const database = `sqlite:${place.path("lost.db")}`;
    await importPets(database, '{"petId":1,"name":"Rex"}');
    const name = "production-20261115T100000Z.petstore";
    await place.json("backup", `s3://backups/lost/${name}`, "--database", database);
    const create = async (target: string) => {
      const words = ["keys", "create", "--name", "a", "--plan", "free", "--database", target];
      const { code, err } = await place.runHere([...words, "--backup-folder", "s3://backups/lost"]);
      return `${code} ${err.split("\n")[0]}`;
    };
    const absent = `sqlite:${place.path("absent.db")}`;
    expect(await create(absent)).toEndWith(
      `or restore its newest backup with petstore restore s3://backups/lost/${name} --database ${absent}; a new store needs another --backup-folder`,
    );
    storage.fault = () => ({ status: 503, code: "SlowDown" });
    expect(await create(absent)).toMatch(
      /not created while its backups are not known: cannot list s3:.*503/,
    );
    expect(existsSync(place.path("absent.db"))).toBe(false);
    // An existing store does not depend on the bucket.
    expect(await create(database)).toStartWith("0 ");
    storage.fault = () => undefined;
    storage.objects.clear();
    expect(await create(absent)).toStartWith("0 ");
  });
});

test("doctor compares encrypted backups in a bucket with the store, or says why it cannot", async () => {
  const database = `sqlite:${place.path("examined/shop.db")}`;
  await importPets(database, '{"petId":1,"name":"Rex"}');
  const keyFile = place.path("examined/backup.key");
  writeFileSync(keyFile, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600 });
  const key = ["--backup-key-file", keyFile];
  const file = "s3://backups/shop/production-20261115T100000Z.petstore";
  await place.json("backup", file, "--database", database, ...key);
  const checkNamed = async (name: string, ...words: string[]) => {
    const flags = ["--database", database, "--backup-folder", "s3://backups/shop", "--json"];
    const { out } = await place.runHere(["doctor", ...flags, ...words]);
    expect(out).not.toContain(storage.variables.AWS_SECRET_ACCESS_KEY);
    const { checks } = JSON.parse(out) as { checks: Record<string, string>[] };
    return checks.findLast((check) => check.name === name);
  };
  const examine = async (...words: string[]) => {
    const { result, found } = (await checkNamed("backup", ...words))!;
    return `${result}: ${found}`;
  };
  expect(await examine(...key)).toMatch(/^ok: the last one is/);
  expect(await examine()).toMatch(/^problem: s3:\S+ is encrypted with the key \w+; give the file/);
  storage.fault = () => ({ status: 404, code: "NoSuchBucket" });
  const absent = "problem: cannot list s3://backups/shop/: there is no such bucket";
  expect(await examine(...key)).toBe(absent);
  const lost = await checkNamed("store", ...key, "--database", `${database}-lost`);
  expect(lost).toMatchObject({ result: "problem" });
  expect(lost!.advice).toEndWith(
    " Whether it has backups is not known: cannot list s3://backups/shop/: there is no such bucket.",
  );
  expect(await checkNamed("backup key", ...key)).toMatchObject({ result: "ok" });
  expect(await checkNamed("backup key")).toBeUndefined();
  chmodSync(keyFile, 0o640);
  expect(await checkNamed("backup key", ...key)).toMatchObject({
    result: "warning",
    advice: `Run chmod 600 ${keyFile}.`,
  });
});
