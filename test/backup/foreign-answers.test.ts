import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { listAhead } from "../../src/backup/ahead.ts";
import { openBucket, upload } from "../../src/backup/bucket.ts";
import { listBackups, newBackupName, removeOldBackups } from "../../src/backup/folder.ts";
import { PlaceError } from "../../src/backup/place.ts";
import { readConfig } from "../../src/config.ts";
import {
  documentOf,
  type ObjectStorage,
  type OtherAnswer,
  startObjectStorage,
} from "../support/object-storage.ts";
import { openWorkspace, type Workspace } from "../support/process.ts";
import { importPets } from "../support/stocking.ts";

// Whatever answers in the place of a bucket, its answer never means that there are no backups.

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

const quick = { attempts: 2, timeoutMs: 60_000, pauseMs: 1 };
const access = () => readConfig({}, storage.variables).objectAccess;
const open = (prefix = "/shop") => openBucket(`s3://backups${prefix}`, access(), quick);
const name = "production-20261115T100000Z.petstore";

/** Every request that is about the bucket, or about a file, gets this answer. */
function answer(about: "bucket" | "file", ...answers: readonly OtherAnswer[]): void {
  let count = 0;
  storage.fault = ({ key }) =>
    (key === "") === (about === "bucket") ? answers[count++ % answers.length] : undefined;
}

/** The message of an error of the place, without its beginning. Any other error fails the test. */
async function problemOf(work: Promise<unknown>, start: string): Promise<string> {
  const error = await work.then(
    (result) => new Error(`it succeeded: ${JSON.stringify(result)}`),
    (failure: Error) => failure,
  );
  if (!(error instanceof PlaceError)) throw error;
  expect(error.message).toStartWith(start);
  expect(error.message).not.toContain(storage.variables.AWS_SECRET_ACCESS_KEY!);
  return error.message.slice(start.length);
}

const page = "<!DOCTYPE html>\n<html><body>Please sign in</body></html>";
const ok = (body: string, headers = {}) => ({ status: 200, body, headers });
const entry = (key: string) => `<Contents><Key>${key}</Key><Size>7</Size></Contents>`;
const more = (token: string) =>
  `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`;
const last = "<IsTruncated>false</IsTruncated>";
const listOf = (content: string) => ok(documentOf("ListBucketResult", content));
const half = listOf(last + entry(`shop/${name}`)).body.slice(0, -30);

const noLists: readonly [string, readonly OtherAnswer[], string][] = [
  [
    "a page",
    [ok(page)],
    "the server answers 200 with <html>, not with a complete <ListBucketResult>",
  ],
  [
    "nothing",
    [ok("")],
    "the server answers 200 with 0 bytes, not with a complete <ListBucketResult>",
  ],
  [
    "a text",
    [ok("welcome")],
    "the server answers 200 with 7 bytes, not with a complete <ListBucketResult>",
  ],
  [
    "half a list",
    [ok(half)],
    "the server answers 200 with <ListBucketResult>, not with a complete <ListBucketResult>",
  ],
  [
    "a list of something else",
    [ok(documentOf("ListAllMyBucketsResult", last))],
    "the server answers 200 with <ListAllMyBucketsResult>, not with a complete <ListBucketResult>",
  ],
  [
    "a list inside a page",
    [ok(`<html>${documentOf("ListBucketResult", last)}</html>`)],
    "the server answers 200 with <html>, not with a complete <ListBucketResult>",
  ],
  [
    "an error as a success",
    [ok("<Error><Code>AccessDenied</Code></Error>")],
    "the server answers 200 AccessDenied",
  ],
  ["a redirect", [{ ...ok(page, { location: "/login" }), status: 302 }], "the server answers 302"],
  ["a missing page", [{ ...ok(page), status: 404 }], "the server answers 404"],
  ["no end", [listOf("")], "the list is not complete at page 1"],
  [
    "no next page",
    [listOf("<IsTruncated>true</IsTruncated>")],
    "the list is not complete at page 1",
  ],
  ["the same page again", [listOf(more("a"))], "the list is not complete at page 2"],
  [
    "pages in a circle",
    [listOf(more("a")), listOf(more("b"))],
    "the list is not complete at page 3",
  ],
  [
    "files of another folder",
    [listOf(last + entry(name))],
    "the list has an entry of another kind",
  ],
  [
    "an entry without a name",
    [listOf(`${last}<Contents/>`)],
    "the list has an entry of another kind",
  ],
];

describe("what is no list of a bucket", () => {
  test.each(noLists)(
    "%s: no backup is missing, and none is removed",
    async (_, answers, problem) => {
      storage.objects.set(`shop/${name}`, Buffer.from("a backup"));
      const folder = { place: open(), environment: "production" };
      const start = "cannot list s3://backups/shop/: ";
      for (const work of [
        () => listBackups(folder, 9),
        () => removeOldBackups(folder, 1, "production-20261116T100000Z.petstore", []),
      ]) {
        answer("bucket", ...answers);
        expect(await problemOf(work(), start)).toBe(problem);
      }
      expect([...storage.objects.keys()]).toEqual([`shop/${name}`]);
    },
  );
});

const range = (value: string) => ({ "content-range": value, etag: '"1"' });
const noFiles: readonly [string, OtherAnswer, string][] = [
  ["a page", ok(page), "the server answers 200 with <html>, not with bytes 0-0"],
  ["nothing", ok(""), "the server answers 200 with 0 bytes, not with bytes 0-0"],
  ["the whole file", ok("petstore"), "the server answers 200 with 8 bytes, not with bytes 0-0"],
  [
    "a part without its range",
    { ...ok("p"), status: 206 },
    "the server answers 206 with 1 bytes, not with bytes 0-0",
  ],
  [
    "another part",
    { ...ok("p", range("bytes 1-1/8")), status: 206 },
    "the server answers 206 with bytes 1-1/8, 1 bytes, not with bytes 0-0",
  ],
  [
    "a longer part",
    { ...ok("pe", range("bytes 0-1/8")), status: 206 },
    "the server answers 206 with bytes 0-1/8, 2 bytes, not with bytes 0-0",
  ],
  [
    "more than the part has",
    { ...ok("pe", range("bytes 0-0/8")), status: 206 },
    "the server answers 206 with bytes 0-0/8, 2 bytes, not with bytes 0-0",
  ],
  [
    "a part of unknown size",
    { ...ok("p", range("bytes 0-0/*")), status: 206 },
    "the server answers 206 with bytes 0-0/*, 1 bytes, not with bytes 0-0",
  ],
  ["a missing page", { ...ok(page), status: 404 }, "the server answers 404"],
  [
    "half of an error",
    { ...ok("<Error><Code>NoSuchKey</Code><Mess"), status: 404 },
    "the server answers 404",
  ],
  [
    "a page about an error",
    { ...ok(`<html><Error><Code>NoSuchKey</Code></Error></html>`), status: 404 },
    "the server answers 404",
  ],
];

test.each(noFiles)(
  "what is no file of a bucket, %s: it is neither there nor missing nor damaged",
  async (_, given, problem) => {
    storage.objects.set(`shop/${name}`, Buffer.from("a backup"));
    answer("file", given);
    const folder = { place: open(), environment: "production" };
    const start = `cannot read s3://backups/shop/${name}: `;
    const now = Date.parse("2026-11-15T10:00:00Z");
    for (const work of [
      () => folder.place.exists(name),
      () => folder.place.open(name),
      () => newBackupName(folder, now),
      () => listAhead(folder.place, [{ name, bytes: 8, createdAt: now }], async () => false),
    ]) {
      expect(await problemOf(work(), start)).toBe(problem);
    }
  },
);

test("a file that is replaced by one of the same size is noticed while it is read", async () => {
  storage.objects.set("shop/a.petstore", randomBytes(100));
  await using bytes = await open().open("a.petstore");
  expect((await bytes.read(90, 50)).length).toBe(10);
  storage.objects.set("shop/a.petstore", randomBytes(100));
  expect(await problemOf(bytes.read(0, 50), "cannot read s3://backups/shop/a.petstore: ")).toBe(
    "it was changed while it was read",
  );
});

test("an upload is stored only if every step of it is confirmed", async () => {
  const send = () =>
    upload("s3://backups/shop/a.petstore", access(), (sink) => sink(randomBytes(99)), quick);
  const steps: [RegExp, OtherAnswer, string][] = [
    [/^POST uploads/, ok(page), "<html>, not with a complete <InitiateMultipartUploadResult>"],
    [/^POST uploads/, ok(documentOf("InitiateMultipartUploadResult", "")), "names no upload"],
    [/^PUT/, ok(page), "<html>, not with an ETag"],
    [/^POST uploadId/, ok(page), "<html>, not with a complete <CompleteMultipartUploadResult>"],
    [/^POST uploadId/, ok(""), "0 bytes, not with a complete <CompleteMultipartUploadResult>"],
    [/^GET/, ok("a".repeat(99)), "99 bytes, not with bytes 0-0"],
  ];
  for (const [step, given, problem] of steps) {
    storage.fault = ({ method, query }) =>
      step.test(`${method} ${[...query.keys()].sort().at(-1)}`) ? given : undefined;
    const start = `cannot ${step.source === "^GET" ? "read" : "write"} s3://backups/shop/a.petstore`;
    expect(await problemOf(send(), `${start}: the server `)).toEndWith(problem);
  }
  storage.fault = () => undefined;
  await send();
});

test("a file that a page says is deleted does not count as removed", async () => {
  storage.objects.set("shop/a.petstore", Buffer.from("a"));
  answer("file", ok(page));
  expect(await open().remove("a.petstore")).toBe(false);
  storage.fault = () => undefined;
  expect(await open().remove("a.petstore")).toBe(true);
});

const address = `s3://backups/shop/${name}`;
const folder = ["--backup-folder", "s3://backups/shop"];

test("a lost store is not created, doctor says why, and nothing is restored", async () => {
  const database = `sqlite:${place.path("shop.db")}`;
  await importPets(database, '{"petId":1,"name":"Rex"}');
  await place.json("backup", address, "--database", database);
  const lost = ["--database", `sqlite:${place.path("lost.db")}`];
  for (const given of [page, "", "<Error><Code>AccessDenied</Code></Error>", half]) {
    storage.fault = () => ok(given);
    const create = ["keys", "create", "--name", "a", "--plan", "free", ...lost, ...folder];
    const unknown = "cannot list s3://backups/shop/: the server answers 200 ";
    expect(await place.runHere(create)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining(`is not created while its backups are not known: ${unknown}`),
    });
    const doctor = await place.runHere(["doctor", "--port", "0", "--json", ...lost, ...folder]);
    expect(doctor.out).toContain(`Whether it has backups is not known: ${unknown}`);
    const examined = ["doctor", "--port", "0", "--json", "--database", database, ...folder];
    expect((await place.runHere(examined)).out).toContain(`"found":"${unknown}`);
    expect(existsSync(place.path("lost.db"))).toBe(false);
  }
  for (const words of [
    ["drill", address, "--database", database],
    ["restore", address, ...lost],
    ["backup", `${address}.petstore`, "--database", database],
  ]) {
    expect(await place.runHere(words)).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringMatching(/^petstore: cannot read s3:\S+: the server answers 200/),
    });
  }
  expect(existsSync(place.path("lost.db"))).toBe(false);
  storage.fault = () => undefined;
  expect(await place.runHere(["restore", address, ...lost])).toMatchObject({ code: 0 });
});
