import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { openBucket, upload } from "../../src/backup/bucket.ts";
import { sign } from "../../src/backup/object-requests.ts";
import type { Sink } from "../../src/backup/writer.ts";
import { readConfig } from "../../src/config.ts";
import { type Fault, type ObjectStorage, startObjectStorage } from "../support/object-storage.ts";
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
const hasty = { attempts: 6, timeoutMs: 1_000, pauseMs: 1 };
const accessOf = (variables = storage.variables) => readConfig({}, variables).objectAccess;
const open = () => openBucket("s3://backups/shop", accessOf(), quick);
const one = "s3://backups/shop/one.petstore";

/** Uploads bytes in small steps. Returns the message of the error, or "stored". */
async function send(content: Uint8Array, patience = quick): Promise<string> {
  const stepBytes = 300_001;
  try {
    const write = async (sink: Sink) => {
      for (let at = 0; at < content.length; at += stepBytes) {
        await sink(content.subarray(at, at + stepBytes));
      }
    };
    await upload(one, accessOf(), write, patience);
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

  test("arrives whole, in one part or in several, also if any one request has to be repeated", async () => {
    const faults: Fault[] = [
      ...(["hang", "cut", "damage", "lose the answer"] as const),
      { status: 503, code: "SlowDown" },
    ];
    const succeeds = async (size: number, fault?: Fault, at = 0) => {
      const content = randomBytes(size);
      const broken = storage.requests.length + at;
      storage.fault = ({ index }) => (index === broken ? fault : undefined);
      storage.objects.clear();
      const shown = `${size} bytes, ${JSON.stringify(fault)} at request ${at}`;
      expect(`${shown}: ${await send(content, fault === "hang" ? hasty : quick)}`).toBe(
        `${shown}: stored`,
      );
      expect(storage.objects.get("shop/one.petstore")!.equals(content)).toBe(true);
    };
    for (const size of [1, 1_000, partBytes, 2 * partBytes + 5]) await succeeds(size);
    for (const fault of faults) {
      for (const at of [0, 1, 2, 3, 4]) await succeeds(partBytes + 1, fault, at);
    }
    // A repeated beginning may have left an upload. It is found by its name and removed.
    await open().removeUnfinished("one", (name) => name === "one.petstore");
    expect(storage.uploads.size).toBe(0);
  }, 120_000);

  test("that fails says why in one sentence, and leaves nothing", async () => {
    const content = randomBytes(partBytes + 1);
    const sentences: [Fault, string][] = [
      ["hang", `${new URL(storage.endpoint).host} does not answer in time`],
      ["cut", `no connection to ${new URL(storage.endpoint).host} (ECONNRESET)`],
      ["damage", "the data was changed on its way"],
      [
        { status: 503, code: "ServiceUnavailable" },
        "the server is overloaded or out of order, it answers 503 ServiceUnavailable",
      ],
      [{ status: 403, code: "AccessDenied" }, "the credentials lack the right to do this"],
      [{ status: 400, code: "ExpiredToken" }, "the credentials have expired"],
      [{ status: 403, code: "RequestTimeTooSkewed" }, "the clock of this machine is off"],
      [{ status: 404, code: "NoSuchBucket" }, "there is no such bucket"],
      [
        { status: 301, code: "PermanentRedirect" },
        "the bucket is in another region; set AWS_REGION",
      ],
      [{ status: 400, code: "EntityTooLarge" }, "the server answers 400 EntityTooLarge"],
    ];
    for (const [fault, sentence] of sentences) {
      // The last of two parts, and the only one.
      for (const bytes of [content, content.subarray(0, 100)]) {
        storage.fault = ({ method, query }) => {
          const number = bytes === content ? "2" : "1";
          const isMet = query.get("partNumber") === number && method === "PUT";
          return isMet ? fault : undefined;
        };
        expect(await send(bytes, fault === "hang" ? hasty : quick)).toBe(
          `cannot write s3://backups/shop/one.petstore: ${sentence}`,
        );
        expect([...storage.objects.keys()]).toEqual([]);
        expect(storage.uploads.size).toBe(0);
      }
    }
  }, 60_000);

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

  test("that changes while it is read is noticed, and a list without an end is ended", async () => {
    await send(randomBytes(1_000));
    const bytes = await open().open("one.petstore");
    for (const size of [999, 10]) {
      const shorter = storage.objects.get("shop/one.petstore")!.subarray(0, size);
      storage.objects.set("shop/one.petstore", shorter);
      await expect(bytes.read(500, 500)).rejects.toThrow(/: it was changed while it was read$/);
    }
    const page =
      "<Contents><Key>a</Key></Contents><NextContinuationToken>b</NextContinuationToken>";
    using server = Bun.serve({ port: 0, fetch: () => new Response(page) });
    const access = accessOf({ ...storage.variables, S3_ENDPOINT: server.url.origin });
    const listed = await openBucket("s3://backups", access, quick).list("", /./, 9);
    expect(listed.map(({ name }) => name)).toEqual(["a", "a"]);
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
