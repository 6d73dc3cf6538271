import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { openBucket, upload } from "../../src/backup/bucket.ts";
import { sign } from "../../src/backup/object-requests.ts";
import type { Sink } from "../../src/backup/writer.ts";
import { readConfig } from "../../src/config.ts";
import { type ObjectStorage, startObjectStorage } from "../support/object-storage.ts";
import { findFreePort } from "../support/ports.ts";

let storage: ObjectStorage;

beforeAll(async () => {
  storage = await startObjectStorage();
});
afterEach(() => {
  storage.fault = () => undefined;
  storage.objects.clear();
  storage.uploads.clear();
});
afterAll(() => storage.stop());

/** A busy machine is not taken for a server that hangs. */
const quick = { attempts: 3, timeoutMs: 60_000, pauseMs: 1 };
const accessOf = (variables = storage.variables) => readConfig({}, variables).objectAccess;
const open = () => openBucket("s3://backups/shop", accessOf(), quick);
const one = "s3://backups/shop/one.petstore";

/** Uploads bytes in small steps. Returns the message of the error, or "stored". */
async function send(content: Uint8Array): Promise<string> {
  const stepBytes = 300_001;
  try {
    const write = async (sink: Sink) => {
      for (let at = 0; at < content.length; at += stepBytes) {
        await sink(content.subarray(at, at + stepBytes));
      }
    };
    await upload(one, accessOf(), write, quick);
    return "stored";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("an upload", () => {
  const partBytes = 8 * 1024 * 1024;

  test("signs requests as the examples of AWS show", () => {
    const access = {
      endpoint: "",
      region: "us-east-1",
      accessKeyId: "AKIAIOSFODNN7EXAMPLE",
      secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      sessionToken: "",
    };
    const signatureOf = (search: string) => {
      const url = new URL(`https://examplebucket.s3.amazonaws.com/?${search}`);
      return sign("GET", url, new Uint8Array(), access, Date.UTC(2013, 4, 24));
    };
    expect(signatureOf("lifecycle=").authorization).toEndWith(
      "=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    );
    expect(signatureOf("max-keys=2&prefix=J").authorization).toEndWith(
      "=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
    );
  });

  test("arrives whole, in one part or in several", async () => {
    for (const size of [1, 1_000, partBytes, 2 * partBytes + 5]) {
      const content = randomBytes(size);
      storage.objects.clear();
      expect(`${size} bytes: ${await send(content)}`).toBe(`${size} bytes: stored`);
      expect(storage.objects.get("shop/one.petstore")!.equals(content)).toBe(true);
    }
  });

  test("whose source fails, or of which the server loses a part, leaves nothing", async () => {
    const failing = upload(one, accessOf(), async (sink) => {
      await sink(randomBytes(2 * partBytes));
      throw new Error("the store is gone");
    });
    await expect(failing).rejects.toThrow("the store is gone");
    expect(storage.uploads.size).toBe(0);
    storage.fault = ({ method, query }) => {
      // The answer to the end of the upload is an error inside a 200, as some servers send it.
      return method === "POST" && query.has("uploadId")
        ? { status: 200, code: "InternalError" }
        : undefined;
    };
    expect(await send(randomBytes(partBytes + 1))).toMatch(/^cannot write s3:.*InternalError$/);
    storage.fault = ({ method }) => {
      const stored = storage.objects.get("shop/one.petstore");
      if (method === "GET" && stored) storage.objects.set("shop/one.petstore", stored.subarray(1));
      return undefined;
    };
    expect(await send(randomBytes(1_000))).toMatch(/the server has not stored all of it$/);
    expect(storage.objects.size + storage.uploads.size).toBe(0);
  });

  test("that changes while it is read is noticed", async () => {
    await send(randomBytes(1_000));
    const bytes = await open().open("one.petstore");
    for (const size of [999, 10]) {
      const shorter = storage.objects.get("shop/one.petstore")!.subarray(0, size);
      storage.objects.set("shop/one.petstore", shorter);
      await expect(bytes.read(500, 500)).rejects.toThrow(/: it was changed while it was read$/);
    }
  });

  test("needs an address, credentials and a server that fit", async () => {
    const list = (address: string, variables: Record<string, string> = {}) => {
      const bucket = () =>
        openBucket(address, accessOf({ ...storage.variables, ...variables }), quick);
      return (async () => bucket().list("", /./, 9))().then(
        String,
        (error: Error) => error.message,
      );
    };
    const port = await findFreePort();
    const nowhere = { AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` };
    expect(await list("s3://backups")).toBe("");
    expect(await list("s3://other/shop")).toMatch(
      /^cannot list s3:\/\/other\/shop\/: there is no such bucket$/,
    );
    const wrong = ["s3://", "S3://backups", "s3://backups//a", "s3://backups/../a", "s3://a?b/c"];
    for (const address of [...wrong, "s3://TESTKEY:hidden@backups", "https://storage/backups"]) {
      expect(await list(address)).toBe(
        "a bucket is s3://BUCKET/PREFIX, a backup in it s3://…/NAME.petstore",
      );
    }
    const before = storage.requests.length;
    for (const name of [".", ".."]) {
      await expect(open().exists(name)).rejects.toThrow(/: no file can have this name$/);
    }
    expect(storage.requests.length).toBe(before);
    expect(await list("s3://backups", { AWS_ACCESS_KEY_ID: "" })).toMatch(
      / needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY$/,
    );
    expect(await list("s3://backups", { AWS_ACCESS_KEY_ID: "OTHER" })).toMatch(
      /the access key is not known there$/,
    );
    expect(await list("s3://backups", { S3_SECRET_ACCESS_KEY: "x" })).toMatch(
      /the secret access key is wrong$/,
    );
    expect(await list("s3://backups", { AWS_SESSION_TOKEN: "" })).toMatch(
      /the session token is not valid$/,
    );
    expect(await list("s3://backups", { AWS_REGION: "us-east-1" })).toMatch(
      /is in another region; set AWS_REGION$/,
    );
    const { host } = new URL(storage.endpoint);
    for (const endpoint of ["storage:9000", `http://a:b@${host}`, `http://${host}?a`]) {
      const refused = await list("s3://backups", { S3_ENDPOINT: endpoint });
      expect(refused).toMatch(/must be https:.*, with no password$/);
    }
    // A line feed at the end, as in a file of variables.
    expect(await list("s3://backups", { S3_ACCESS_KEY_ID: "TESTKEY\r\n" })).toBe("");
    expect(await list("s3://backups", nowhere)).toMatch(
      /no connection to 127\.0\.0\.1:\d+ \(ECONNREFUSED\)$/,
    );
  });
});
