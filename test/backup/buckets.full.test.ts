import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { openBucket } from "../../src/backup/bucket.ts";
import { readConfig } from "../../src/config.ts";
import { issueOperator } from "../support/admin/operators.ts";
import { createTestClock } from "../support/clock.ts";
import { sampleOf, scrape } from "../support/metrics.ts";
import { documentOf, type ObjectStorage, startObjectStorage } from "../support/object-storage.ts";
import { findFreePort } from "../support/ports.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { importPets, verifyStore } from "../support/stocking.ts";
import { until } from "../support/until.ts";

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

const address = "s3://backups/shop/monday.petstore";

/** Pets whose backup has several parts. Random texts cannot be compressed. */
async function importLargePets(database: string): Promise<void> {
  const text = () => randomBytes(375).toString("base64");
  const pets = Array.from({ length: 400 }, (_, at) => {
    const photoUrls = Array.from({ length: 70 }, () => `https://p.example/${text()}`);
    return JSON.stringify({ petId: at + 1, name: `Pet ${at}`, quantity: at, photoUrls });
  });
  await importPets(database, ...pets);
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
    // Nothing is compared and nothing removed while something else answers in the place of the bucket.
    storage.fault = ({ key: name }) =>
      name === "" ? { status: 200, body: "<html></html>" } : undefined;
    clock.advance(10_000);
    await until(() => eventsOf("backup made").length === 7, 30_000, "a backup without a list");
    expect(JSON.parse(eventsOf("backup made")[6]!)).toMatchObject({ removed: 0 });
    expect(storage.objects.size).toBe(foreign.length + 4);
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
    await until(() => eventsOf("backup made").length === 8, 30_000, "the next backup");
  } finally {
    await service.stop();
    for (const name of Object.keys(storage.variables)) delete process.env[name];
    Object.assign(process.env, before);
  }
}, 120_000);

test("a backup that is made counts as made while the bucket lists nothing", async () => {
  const before = { ...process.env };
  Object.assign(process.env, storage.variables);
  const bounds = { objectAccess: accessOf() };
  const flags = { "backup-folder": "s3://backups/shop", "backup-keep": "1" };
  const older = "shop/production-20200101T000000Z.petstore";
  const service = await startTestService("sqlite", flags, bounds, { program });
  storage.objects.set(older, Buffer.from(""));
  storage.fault = ({ key }) => (key === "" ? { status: 403, code: "AccessDenied" } : undefined);
  try {
    const { text: key } = await issueOperator(service);
    expect(await service.call("POST", "~/admin/backups", { key })).toMatchObject({ status: 201 });
    expect([...storage.objects.keys()]).toContain(older);
    expect(storage.objects.size).toBe(2);
  } finally {
    await service.stop();
    for (const name of Object.keys(storage.variables)) delete process.env[name];
    Object.assign(process.env, before);
  }
});

test("a list that never ends is given up", async () => {
  let count = 0;
  storage.fault = () => {
    const token = `<NextContinuationToken>${count++}</NextContinuationToken>`;
    const content = `<IsTruncated>true</IsTruncated>${token}`;
    return { status: 200, body: documentOf("ListBucketResult", content) };
  };
  await expect(open().list("", /./, 9)).rejects.toThrow(
    "cannot list s3://backups/shop/: the list is not complete at page 1001",
  );
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
