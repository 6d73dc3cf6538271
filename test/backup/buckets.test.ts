import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { openBucket } from "../../src/backup/bucket.ts";
import { readConfig } from "../../src/config.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { createTestClock } from "../support/clock.ts";
import { until } from "../support/instances/fleet.ts";
import { sampleOf, scrape } from "../support/metrics.ts";
import { type ObjectStorage, startObjectStorage } from "../support/object-storage.ts";
import { findFreePort } from "../support/ports.ts";
import { migratedDatabase } from "../support/postgres-template.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { engines, startTestService } from "../support/service.ts";
import { importPets, verifyStore } from "../support/stocking.ts";

let storage: ObjectStorage;
let place: Workspace;
const program = [process.execPath, resolve(import.meta.dir, "../../src/main.ts")];

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

/** A busy machine is not taken for a server that hangs. */
const quick = { attempts: 3, timeoutMs: 60_000, pauseMs: 1 };
const accessOf = (variables = storage.variables) => readConfig({}, variables).objectAccess;
const open = () => openBucket("s3://backups/shop", accessOf(), quick);

/** Pets whose backup has several parts. Random texts cannot be compressed. */
async function importLargePets(database: string): Promise<void> {
  const text = () => randomBytes(375).toString("base64");
  const pets = Array.from({ length: 400 }, (_, at) => {
    const photoUrls = Array.from({ length: 70 }, () => `https://p.example/${text()}`);
    return JSON.stringify({ petId: at + 1, name: `Pet ${at}`, quantity: at, photoUrls });
  });
  await importPets(database, ...pets);
}

describe("commands", () => {
  const address = "s3://backups/shop/monday.petstore";

  for (const engine of engines) {
    test(`a backup of ${engine} in a bucket is drilled and restored, encrypted or not`, async () => {
      const database =
        engine === "sqlite" ? `sqlite:${place.path("shop.db")}` : await migratedDatabase();
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
            ? await migratedDatabase()
            : `sqlite:${place.path(`restored-${key.length}.db`)}`;
        const { seq, hash } = await place.json<{ seq: number; hash: string }>(
          ...["restore", address, "--database", target, ...key],
        );
        expect(await verifyStore(target, { seq, hash })).toMatchObject({ faultCount: 0, seq: 1 });
      }
      const missing = await place.runHere(["drill", `${address}x`, "--database", database]);
      expect(missing).toMatchObject({ code: 2, err: expect.stringContaining("no such file") });
    });
  }

  test("a process that is killed while it sends or receives leaves nothing that looks whole", async () => {
    const database = `sqlite:${place.path("large.db")}`;
    await importLargePets(database);
    let isWaiting = false;
    const hangAt = (isMet: (query: URLSearchParams, index: number) => boolean) => {
      isWaiting = false;
      const start = storage.requests.length;
      storage.fault = ({ query, index }) => {
        if (!isMet(query, index - start)) return undefined;
        isWaiting = true;
        return "hang";
      };
    };
    const killWhileWaiting = async (words: readonly string[]) => {
      const { kill, exited } = place.start(words);
      await until(() => isWaiting, 30_000, "the request that hangs");
      kill("SIGKILL");
      await exited;
    };
    for (const isMet of [
      (query: URLSearchParams) => query.get("partNumber") === "2",
      (query: URLSearchParams) => query.has("uploadId") && !query.has("partNumber"),
    ]) {
      hangAt(isMet);
      await killWhileWaiting(["backup", address, "--database", database]);
      expect(storage.objects.size).toBe(0);
      expect(storage.uploads.size).toBe(1);
      storage.fault = () => undefined;
      await open().removeUnfinished("monday", () => true);
      expect(storage.uploads.size).toBe(0);
    }
    await place.json("backup", address, "--database", database);
    const target = place.path("half/restored.db");
    const restore = ["restore", address, "--database", `sqlite:${target}`];
    for (const request of [3, 6]) {
      hangAt((_, index) => index === request);
      await killWhileWaiting(restore);
      expect(existsSync(target)).toBe(false);
    }
    storage.fault = () => undefined;
    await place.json(...restore);
    expect(await verifyStore(`sqlite:${target}`)).toMatchObject({ faultCount: 0, seq: 400 });
  }, 120_000);

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
      `or restore its newest backup with petstore restore s3://backups/lost/${name}; a new store needs another --backup-folder`,
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

test("a schedule keeps backups in a bucket, and a failure is in the log, the metrics and the console", async () => {
  const clock = createTestClock();
  const before = { ...process.env };
  Object.assign(process.env, storage.variables);
  const folder = "s3://backups/shop";
  const flags = {
    "backup-every": "1h",
    "backup-keep": "2",
    "backup-folder": folder,
    "metrics-port": "0",
  };
  const bounds = { backupEveryMs: 1_000, metricsReadEveryMs: 50, objectAccess: accessOf() };
  storage.objects.set("shop/staging-20200101T000000Z.petstore", Buffer.from(""));
  storage.objects.set("shop/deeper/production-20200101T000000Z.petstore", Buffer.from(""));
  storage.objects.set("shop/production-20261399T250000Z.petstore", Buffer.from(""));
  const foreign = [...storage.objects.keys()];
  const service = await startTestService("sqlite", flags, bounds, { program, clock });
  try {
    const eventsOf = (event: string) =>
      service.logged.filter((line) => line.includes(`"${event}"`));
    const { text: key } = await issueOperator(service);
    // What was never listed is not shown as an empty list.
    storage.fault = ({ key: name }) =>
      name === "" ? { status: 404, code: "NoSuchBucket" } : undefined;
    const unknown = "cannot list s3://backups/shop/: there is no such bucket. Run petstore doctor.";
    expect(await service.call("GET", "~/admin/backups", { key })).toMatchObject({
      status: 503,
      json: { message: `The backups are not known now: ${unknown}` },
    });
    storage.fault = () => undefined;
    for (let count = 1; count <= 4; count++) {
      await until(() => eventsOf("backup made").length === count, 30_000, "a backup");
      clock.advance(10_000);
    }
    await until(() => eventsOf("backup made").length === 5, 30_000, "a backup");
    expect(JSON.parse(eventsOf("backup made")[4]!)).toMatchObject({ removed: 1 });
    const own = ["20261115T120030Z", "20261115T120040Z"].map(
      (time) => `production-${time}.petstore`,
    );
    const objects = [...own.map((name) => `shop/${name}`), ...foreign];
    expect([...storage.objects.keys()].sort()).toEqual(objects.sort());

    const list = async () => {
      const { json } = await service.call("GET", "~/admin/backups", { key });
      return json as { folder: string; files: { name: string }[]; last: { error: string | null } };
    };
    expect(await list()).toMatchObject({
      folder,
      files: own.toReversed().map((name) => ({ name })),
    });
    // Without the right to delete, older backups stay, and new ones do not fail.
    storage.fault = ({ method, query }) =>
      method === "DELETE" && query.size === 0 ? { status: 403, code: "AccessDenied" } : undefined;
    clock.advance(10_000);
    await until(
      () => eventsOf("backup made").length === 6,
      30_000,
      "a backup that removes nothing",
    );
    expect(JSON.parse(eventsOf("backup made")[5]!)).toMatchObject({ removed: 0 });
    expect((await list()).files.length).toBe(3);
    storage.fault = () => ({ status: 403, code: "ExpiredToken" });
    clock.advance(10_000);
    await until(() => eventsOf("backup failed").length === 1, 30_000, "a failure");
    const error = expect.stringMatching(
      /^cannot read s3:\/\/backups\/shop\/\S+: the credentials have expired$/,
    );
    expect(JSON.parse(eventsOf("backup failed")[0]!)).toMatchObject({ error });
    // The page still shows the files that were there.
    await until(async () => (await list()).last.error !== null, 20_000, "the record");
    const shown = await list();
    expect(shown).toMatchObject({ last: { error } });
    expect(shown.files.length).toBe(3);
    const failed = async () =>
      Number(
        sampleOf(
          await scrape(service.metricsUrl),
          "petstore_backup_last_failure_timestamp_seconds",
        ),
      ) > 0;
    await until(failed, 20_000, "the metric");
    const made = await service.call("POST", "~/admin/backups", { key });
    expect(made).toMatchObject({
      status: 503,
      json: { message: expect.stringContaining("expired") },
    });
    storage.fault = () => undefined;
    clock.advance(10_000);
    await until(() => eventsOf("backup made").length === 7, 30_000, "the next backup");
  } finally {
    await service.stop();
    for (const name of Object.keys(storage.variables)) delete process.env[name];
    Object.assign(process.env, before);
  }
}, 120_000);

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

/** A real server, where one is installed. */
const minio = Bun.which("minio");

test.skipIf(minio === null)(
  "a real server takes a backup of several parts, and gives it back (needs minio)",
  async () => {
    const port = await findFreePort();
    const folder = place.path("minio");
    mkdirSync(`${folder}/backups`, { recursive: true });
    const [user, password] = ["petstore-tests", randomBytes(12).toString("hex")];
    const server = spawn(minio!, ["server", folder, "--address", `127.0.0.1:${port}`], {
      env: { ...process.env, MINIO_ROOT_USER: user, MINIO_ROOT_PASSWORD: password },
      stdio: "ignore",
    });
    try {
      const endpoint = `http://127.0.0.1:${port}`;
      const isUp = async () => (await fetch(`${endpoint}/minio/health/live`)).ok;
      await until(() => isUp().catch(() => false), 30_000, "minio");
      const env = { S3_ENDPOINT: endpoint, S3_ACCESS_KEY_ID: user, S3_SECRET_ACCESS_KEY: password };
      const variables = { ...env, AWS_SESSION_TOKEN: "", AWS_REGION: "us-east-1" };
      const database = `sqlite:${place.path("real.db")}`;
      await importLargePets(database);
      const run = (...words: string[]) =>
        place.runHere([...words, "--database", database], { env: variables });
      const address = "s3://backups/a shop/(1)!.petstore";
      expect(await run("backup", address)).toMatchObject({ code: 0 });
      expect(await run("drill", address)).toMatchObject({ code: 0 });
      const bucket = openBucket("s3://backups/a shop", accessOf(variables), quick);
      expect((await bucket.list("(1", /./, 9)).map(({ name }) => name)).toEqual(["(1)!.petstore"]);
      await bucket.removeUnfinished("(1", () => true);
      await bucket.remove("(1)!.petstore");
      expect(await bucket.exists("(1)!.petstore")).toBe(false);
    } finally {
      server.kill();
    }
  },
  120_000,
);
