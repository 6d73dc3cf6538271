import { basename, dirname } from "node:path";
import type { ObjectAccess } from "../domain/operations/backups.ts";
import { type Patience, requestsTo, type SendRequest, textIn } from "./object-requests.ts";
import { type BackupPlace, PlaceError } from "./place.ts";
import type { Sink } from "./writer.ts";

/**
 * The size of each part of an upload but the last. Some servers want all to be equal. None takes more than
 * 10,000 parts.
 */
const partBytes = 8 * 1024 * 1024;

/** A command takes its time. */
export const patient: Patience = { attempts: 4, timeoutMs: 60_000, pauseMs: 1_000 };

/** A page, a start and a stop do not wait for long. The next backup says what is wrong. */
export const impatient: Patience = { attempts: 2, timeoutMs: 4_000, pauseMs: 500 };

/** Also one that is not valid: a folder with the name `https:` would be on this machine. */
export function isBucketAddress(address: string): boolean {
  return /^(s3:|[a-z][a-z\d+.-]*:\/\/)/i.test(address);
}

/** Opens `s3://bucket/prefix`. Nothing is sent before the first use. */
export function openBucket(address: string, access: ObjectAccess, how: Patience): BackupPlace {
  const { bucket, prefix } = parseAddress(address, access);
  const send = requestsTo(bucket, prefix, access, how);
  const root = `s3://${bucket}/${prefix}`;

  /** Undefined if there is no such object. A HEAD request would not say why it is refused. */
  async function sizeOf(name: string, expected = ["NoSuchKey", "InvalidRange"]) {
    const range = [0, 0] as const;
    const { code, headers } = await send({ task: "read", method: "GET", name, range, expected });
    if (code === "NoSuchKey") return undefined;
    return Number(/\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1] ?? 0);
  }

  /** All objects, or all unfinished uploads. Names have no character that XML escapes. */
  async function listAll(query: Readonly<Record<string, string>>) {
    const found = [];
    for (let page = query; ; ) {
      const { body } = await send({ task: "list", method: "GET", query: page });
      const xml = body.toString("utf8");
      for (const [text] of xml.matchAll(/<(Contents|Upload)>.*?<\/\1>/gs)) {
        const name = textIn(text, "Key")?.replace(/^.*\//s, "") ?? "";
        const [bytes, uploadId] = [Number(textIn(text, "Size")), textIn(text, "UploadId") ?? ""];
        found.push({ name, bytes, uploadId });
      }
      const next = textIn(xml, "NextContinuationToken");
      if (next === undefined || next === page["continuation-token"])
        return found.sort((a, b) => (a.name < b.name ? -1 : 1));
      page = { ...query, "continuation-token": next };
    }
  }

  return {
    address: root.replace(/\/$/, ""),
    addressOf: (name) => root + name,
    prepare() {},
    exists: async (name) => (await sizeOf(name)) !== undefined,
    async open(name) {
      const size = (await sizeOf(name, ["InvalidRange"]))!;
      return {
        size,
        async read(start, length) {
          const range = [start, Math.min(start + length, size) - 1] as const;
          if (range[1] < start) return Buffer.alloc(0);
          const { body } = await send({ task: "read", method: "GET", name, range });
          if (body.length === range[1] - start + 1) return body;
          throw new PlaceError(`cannot read ${root}${name}: it was changed while it was read`);
        },
        [Symbol.asyncDispose]: async () => {},
      };
    },
    async list(nameStart, pattern, filesMax) {
      const query = { "list-type": "2", delimiter: "/", prefix: prefix + nameStart };
      return (await listAll(query)).filter(({ name }) => pattern.test(name)).slice(-filesMax);
    },
    // Credentials without this right are a good idea. A backup does not fail because older ones stay.
    async remove(name) {
      const removed = await send({ task: "delete", method: "DELETE", name }).catch(() => undefined);
      return removed !== undefined;
    },
    /** Best effort: not every server and not every key allows it, and unfinished uploads are invisible. */
    async removeUnfinished(nameStart, isAbandoned) {
      const found = await listAll({ uploads: "", prefix: prefix + nameStart }).catch(() => []);
      for (const { name, uploadId } of found) {
        if (isAbandoned(name)) await abort(send, name, uploadId);
      }
    },
  };
}

/** Best effort. What is left is invisible. */
async function abort(send: SendRequest, name: string, uploadId: string): Promise<void> {
  await send({ task: "write", method: "DELETE", name, query: { uploadId } }).catch(() => {});
}

/**
 * Creates an object with what `write` writes. It appears when it is complete. If that fails, nothing of it
 * stays. One part is in memory.
 */
export async function upload<T>(
  address: string,
  access: ObjectAccess,
  write: (sink: Sink) => Promise<T>,
  how = patient,
): Promise<T> {
  const [folder, name] = [dirname(address), basename(address)];
  const { bucket, prefix } = parseAddress(folder, access);
  const send = requestsTo(bucket, prefix, access, how);
  const request = { task: "write", name } as const;
  const part = Buffer.alloc(partBytes);
  const parts: string[] = [];
  let [filled, sent] = [0, 0];
  const begun = await send({ ...request, method: "POST", query: { uploads: "" } });
  const uploadId = textIn(begun.body.toString("utf8"), "UploadId") ?? "";

  async function sendPart(): Promise<void> {
    const partNumber = String(parts.length + 1);
    const sending = { query: { partNumber, uploadId }, body: part.subarray(0, filled) };
    const tag = (await send({ ...request, method: "PUT", ...sending })).headers.get("etag");
    parts.push(`<Part><PartNumber>${partNumber}</PartNumber><ETag>${tag}</ETag></Part>`);
    sent += filled;
    filled = 0;
  }

  try {
    const result = await write(async (bytes) => {
      for (let at = 0; at < bytes.length; ) {
        if (filled === partBytes) await sendPart();
        const taken = bytes.subarray(at, at + partBytes - filled);
        part.set(taken, filled);
        filled += taken.length;
        at += taken.length;
      }
    });
    await sendPart();
    const list = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
    // An attempt whose answer was lost has ended the upload. The size then shows whether it is there.
    const ending = { query: { uploadId }, body: Buffer.from(list), expected: ["NoSuchUpload"] };
    await send({ ...request, method: "POST", ...ending });
    const place = openBucket(folder, access, how);
    if ((await place.open(name)).size === sent) return result;
    await place.remove(name);
    throw new PlaceError(`cannot write ${address}: the server has not stored all of it`);
  } catch (error) {
    // The command has waited long enough.
    await abort(requestsTo(bucket, prefix, access, impatient), name, uploadId);
    throw error;
  }
}

function parseAddress(address: string, access: ObjectAccess) {
  const [, bucket, path = ""] =
    /^s3:\/\/([A-Za-z0-9][\w.-]{1,61}[A-Za-z0-9])(\/.*?)?\/*$/s.exec(address) ?? [];
  if (bucket === undefined || /\/(\/|\.\.?(\/|$))/.test(path)) throw invalidAddress();
  const { endpoint, accessKeyId, secretAccessKey } = access;
  if (accessKeyId === "" || secretAccessKey === "") {
    throw new PlaceError(`${address} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`);
  }
  const url = URL.parse(endpoint.replace("{bucket}", bucket));
  if (!url || !/^https?:/.test(endpoint) || url.username + url.password + url.search + url.hash) {
    throw new PlaceError("AWS_ENDPOINT_URL_S3 must be https://… or http://…, with no password");
  }
  return { bucket, prefix: path === "" ? "" : `${path.slice(1)}/` };
}

/** What was given is not shown: it may have a password. */
export function invalidAddress(): PlaceError {
  return new PlaceError("a bucket is s3://BUCKET/PREFIX, a backup in it s3://…/NAME.petstore");
}
