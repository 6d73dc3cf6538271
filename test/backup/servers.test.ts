import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { openBucket, upload } from "../../src/backup/bucket.ts";
import { readConfig } from "../../src/config.ts";
import { documentOf, type ObjectStorage, startObjectStorage } from "../support/object-storage.ts";

// Servers differ in how they write the same answer. The server of the tests checks signatures as AWS does.

let storage: ObjectStorage;
beforeAll(async () => {
  storage = await startObjectStorage();
});
afterEach(() => {
  storage.fault = () => undefined;
  storage.objects.clear();
});
afterAll(() => storage.stop());

const quick = { attempts: 2, timeoutMs: 60_000, pauseMs: 1 };
const access = () => readConfig({}, storage.variables).objectAccess;
const open = (prefix = "/shop") => openBucket(`s3://backups${prefix}`, access(), quick);

const last = "<IsTruncated>false</IsTruncated>";
const entry = (key: string) => `<Contents><Key>${key}</Key><Size>7</Size></Contents>`;

const lists: [string, string][] = [
  [
    "spaces that keep the connection open",
    `\n  ${documentOf("ListBucketResult", `<Name>backups</Name><Prefix>shop/</Prefix><KeyCount>1</KeyCount><MaxKeys>1000</MaxKeys><Delimiter>/</Delimiter>${last}${entry("shop/a.petstore")}`)}\n`,
  ],
  [
    "single quotes, another namespace, other elements",
    `<?xml version='1.0' encoding='UTF-8'?><ListBucketResult xmlns='http://doc.s3.amazonaws.com/2006-03-01'><Name>backups</Name><Prefix>shop/</Prefix><Delimiter>/</Delimiter><KeyCount>1</KeyCount>${last}<Contents><Key>shop/a.petstore</Key><Generation>1380149859530000</Generation><MetaGeneration>4</MetaGeneration><LastModified>2026-11-15T22:57:39.349Z</LastModified><ETag>"c0d96102715c4916b872f91f5bf9b12c"</ETag><Size>7</Size></Contents></ListBucketResult>`,
  ],
  [
    "indented lines",
    `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\n  <IsTruncated>false</IsTruncated>\n  <Contents>\n    <Key>shop/a.petstore</Key>\n    <Size>7</Size>\n    <StorageClass>STANDARD</StorageClass>\n  </Contents>\n  <Name>backups</Name>\n  <Prefix>shop/</Prefix>\n  <CommonPrefixes>\n    <Prefix>shop/deeper/</Prefix>\n  </CommonPrefixes>\n</ListBucketResult>\n`,
  ],
  [
    "no declaration, and a token after the last page",
    `<ListBucketResult>${last}<NextContinuationToken>shop/a</NextContinuationToken><Prefix>shop/</Prefix>${entry("shop/a.petstore")}</ListBucketResult>`,
  ],
];
test.each(lists)("a list with %s", async (_, body) => {
  storage.fault = () => ({ status: 200, body });
  expect(await open().list("", /./, 9)).toEqual([{ name: "a.petstore", bytes: 7 }]);
});

test("an empty list, an empty file and a missing one", async () => {
  expect(await open().list("", /./, 9)).toEqual([]);
  storage.objects.set("shop/empty", Buffer.alloc(0));
  await using empty = await open().open("empty");
  expect(empty.size).toBe(0);
  expect(await open().exists("empty")).toBe(true);
  const body = `<?xml version='1.0' encoding='UTF-8'?>\n<Error>\n <Code>NoSuchKey</Code>\n <Message>no</Message>\n</Error>\n`;
  storage.fault = () => ({ status: 404, body });
  expect(await open().exists("empty")).toBe(false);
});

test("names with any characters, in lists of several pages", async () => {
  const prefix = '/R&D\'s "new" <shop> (1)*!/é%20+~';
  const names = ["a'(1)*!.petstore", "b&amp;+ %.petstore", "c=ü?#.petstore"];
  for (const one of names) {
    const address = `s3://backups${prefix}/${one}`;
    await upload(address, access(), (sink) => sink(Buffer.from(one)), quick);
  }
  storage.objects.set("elsewhere/d.petstore", Buffer.from("d"));
  const found = await open(prefix).list("", /./, 9);
  expect(found.map((file) => file.name)).toEqual(names);
  expect(storage.requests.filter((request) => request.includes("continuation-token"))).not.toEqual(
    [],
  );
  for (const one of names) {
    await using bytes = await open(prefix).open(one);
    expect((await bytes.read(0, 99)).toString()).toBe(one);
    expect(await open(prefix).remove(one)).toBe(true);
  }
  expect([...storage.objects.keys()]).toEqual(["elsewhere/d.petstore"]);
});

test("a request that is one too many is sent again", async () => {
  let count = 0;
  const busy = { status: 429, body: "<html>Too many requests</html>" };
  storage.fault = () => (count++ === 0 ? busy : undefined);
  expect(await open().list("", /./, 9)).toEqual([]);
  expect(count).toBe(2);
  storage.fault = () => busy;
  await expect(open().list("", /./, 9)).rejects.toThrow(/: the server answers 429$/);
});
