import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { openBucket, upload } from "../../src/backup/bucket.ts";
import type { Sink } from "../../src/backup/writer.ts";
import { readConfig } from "../../src/config.ts";
import { type Fault, type ObjectStorage, startObjectStorage } from "../support/object-storage.ts";

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

  test("arrives whole also if any one request has to be repeated", async () => {
    const faults: Fault[] = [
      ...(["hang", "cut", "damage", "lose the answer"] as const),
      { status: 503, code: "SlowDown" },
    ];
    const succeeds = async (fault: Fault, at: number) => {
      const content = randomBytes(partBytes + 1);
      const broken = storage.requests.length + at;
      storage.fault = ({ index }) => (index === broken ? fault : undefined);
      storage.objects.clear();
      const shown = `${JSON.stringify(fault)} at request ${at}`;
      expect(`${shown}: ${await send(content, fault === "hang" ? hasty : quick)}`).toBe(
        `${shown}: stored`,
      );
      expect(storage.objects.get("shop/one.petstore")!.equals(content)).toBe(true);
    };
    for (const fault of faults) {
      for (const at of [0, 1, 2, 3, 4]) await succeeds(fault, at);
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
});
