import { basename, dirname } from "node:path";
import type { ObjectAccess } from "../domain/operations/backups.ts";
import { type Patience, requestsTo, type SendRequest } from "./object-requests.ts";
import { type BackupPlace, type PlacedFile, PlaceError } from "./place.ts";
import type { Sink } from "./writer.ts";
import { textIn } from "./xml.ts";

/**
 * The size of each part of an upload but the last. Some servers want all to be equal. None takes more than
 * 10,000 parts.
 */
const partBytes = 8 * 1024 * 1024;

/** Most servers send 1,000 names in a page. */
const pagesMax = 1_000;

/** A command takes its time. */
export const patient: Patience = { attempts: 4, timeoutMs: 60_000, pauseMs: 1_000 };

/** A page, a start and a stop do not wait for long. The next backup says what is wrong. */
export const impatient: Patience = { attempts: 2, timeoutMs: 4_000, pauseMs: 500 };

/** Also one that is not valid: a folder with the name `https:` would be on this machine. */
export function isBucketAddress(address: string): boolean {
  return /^(s3:|[a-z][a-z\d+.-]+:[/\\])/i.test(address);
}

/** Opens `s3://bucket/prefix`. Nothing is sent before the first use. */
export function openBucket(address: string, access: ObjectAccess, how: Patience): BackupPlace {
  const { bucket, prefix } = parseAddress(address, access);
  const send = requestsTo(bucket, prefix, access, how);
  const root = `s3://${bucket}/${prefix}`;

  /** Undefined if there is no such object. A HEAD request would not say why it is refused. */
  async function find(name: string, expected = ["NoSuchKey", "InvalidRange"]) {
    // A file without bytes has no range.
    const found = await send({ task: "read", method: "GET", name, range: [0, 0], expected });
    return found.code === "NoSuchKey" ? undefined : found;
  }

  return {
    address: root.replace(/\/$/, ""),
    addressOf: (name) => root + name,
    prepare() {},
    exists: async (name) => (await find(name)) !== undefined,
    async open(name) {
      const { size, tag } = (await find(name, ["InvalidRange"]))!;
      return {
        size,
        async read(start, length) {
          const range = [start, Math.min(start + length, size) - 1] as const;
          if (range[1] < start) return Buffer.alloc(0);
          const now = await send({ task: "read", method: "GET", name, range });
          if (now.size === size && now.tag === tag) return now.body;
          throw new PlaceError(`cannot read ${root}${name}: it was changed while it was read`);
        },
        [Symbol.asyncDispose]: async () => {},
      };
    },
    async list(nameStart, pattern, filesMax) {
      const found = await listAll(send, root, prefix, nameStart);
      return found.filter(({ name }) => pattern.test(name)).slice(-filesMax);
    },
    // Credentials without this right are a good idea. A backup does not fail because older ones stay.
    async remove(name) {
      const removed = await send({ task: "delete", method: "DELETE", name }).catch(() => undefined);
      return removed !== undefined;
    },
    /** Best effort: not every server and not every key allows it, and unfinished uploads are invisible. */
    async removeUnfinished(nameStart, isAbandoned) {
      const query = { uploads: "", prefix: prefix + nameStart };
      const document = "ListMultipartUploadsResult";
      const page = send({ task: "list", method: "GET", query, document }).catch(() => undefined);
      for (const [text] of (await page)?.content.matchAll(/<Upload>.*?<\/Upload>/gs) ?? []) {
        const name = textIn(text, "Key")?.slice(prefix.length) ?? "";
        if (isAbandoned(name)) await abort(send, name, textIn(text, "UploadId") ?? "");
      }
    },
  };
}

/** All objects whose names begin so, in their order. Throws unless the server sends every page of the list. */
async function listAll(send: SendRequest, root: string, prefix: string, nameStart: string) {
  const found: PlacedFile[] = [];
  const tokens = new Set<string>();
  const failure = (what: string) => new PlaceError(`cannot list ${root}: the list ${what}`);
  const first = { "list-type": "2", delimiter: "/", prefix: prefix + nameStart };
  for (let query: Record<string, string> = first; ; ) {
    const page = await send({ task: "list", method: "GET", query, document: "ListBucketResult" });
    for (const entry of page.content.split(/<Contents[\s/>]/).slice(1)) {
      const key = textIn(entry, "Key") ?? "";
      if (!key.startsWith(first.prefix)) throw failure("has an entry of another kind");
      found.push({ name: key.slice(prefix.length), bytes: Number(textIn(entry, "Size")) });
    }
    if (textIn(page.content, "IsTruncated") === "false") break;
    const next = textIn(page.content, "NextContinuationToken");
    if (!next || tokens.has(next) || tokens.size === pagesMax) {
      throw failure(`is not complete at page ${tokens.size + 1}`);
    }
    tokens.add(next);
    query = { ...first, "continuation-token": next };
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
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
  const document = "InitiateMultipartUploadResult";
  const begun = await send({ ...request, method: "POST", query: { uploads: "" }, document });
  const uploadId = textIn(begun.content, "UploadId") ?? "";
  if (uploadId === "") throw new PlaceError(`cannot write ${address}: the server names no upload`);

  async function sendPart(): Promise<void> {
    const partNumber = String(parts.length + 1);
    const sending = { query: { partNumber, uploadId }, body: part.subarray(0, filled) };
    const { tag } = await send({ ...request, method: "PUT", ...sending });
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
    const document = "CompleteMultipartUploadResult";
    await send({ ...request, method: "POST", ...ending, document });
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
