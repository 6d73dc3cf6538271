import type { ObjectAccess } from "../domain/operations/backups.ts";
import { type ObjectRequest, type Patience, requestsTo, textIn } from "./object-requests.ts";
import { type BackupBytes, type BackupPlace, type PlacedFile, PlaceError } from "./place.ts";
import type { Sink } from "./writer.ts";

/** The size of each part of an upload but the last. Some servers want all to be equal, and none takes 10,001. */
const partBytes = 8 * 1024 * 1024;
const partsMax = 10_000;

/** A command takes its time. */
export const patient: Patience = { attempts: 4, timeoutMs: 60_000, pauseMs: 1_000 };

/** A page, a start and a stop do not wait for long. The next backup says what is wrong. */
export const impatient: Patience = { attempts: 2, timeoutMs: 4_000, pauseMs: 500 };

/** A place in a bucket of object storage. An object appears there when it is complete. */
export interface Bucket extends BackupPlace {
  /** Creates an object with what `write` writes. If that fails, nothing of it stays. */
  upload<T>(name: string, write: (sink: Sink) => Promise<T>): Promise<T>;
}

export function isBucketAddress(address: string): boolean {
  return address.startsWith("s3://");
}

/** Opens `s3://bucket/prefix`. Nothing is sent before the first use. */
export function openBucket(address: string, access: ObjectAccess, patience: Patience): Bucket {
  const [, bucket, path = ""] =
    /^s3:\/\/([A-Za-z0-9][\w.-]{1,61}[A-Za-z0-9])(?:\/(.*))?$/s.exec(address) ?? [];
  const segments = path.replace(/\/+$/, "").split("/");
  const isValid = path === "" || !segments.some((segment) => ["", ".", ".."].includes(segment));
  if (bucket === undefined || !isValid)
    throw new PlaceError(`${address} is not s3://BUCKET/PREFIX`);
  if (access.accessKeyId === "" || access.secretAccessKey === "") {
    const remedy = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
    throw new PlaceError(`${address} cannot be used without credentials; ${remedy}`);
  }
  if (
    !/^https?:\/\//.test(access.endpoint) ||
    !URL.canParse(access.endpoint.replace("{bucket}", bucket))
  ) {
    throw new PlaceError("the address of the object storage must be https://… or http://…");
  }
  const send = requestsTo(bucket, access, patience);
  const start = segments[0] === "" ? "" : `${segments.join("/")}/`;
  const root = `s3://${bucket}/${start}`;
  const reading = (name: string) =>
    ({
      task: `read ${root}${name}`,
      right: "s3:GetObject",
      method: "GET",
      key: start + name,
    }) as const;

  /** Undefined if there is no such object. A HEAD request would not say why it is refused. */
  async function sizeOf(name: string): Promise<number | undefined> {
    const expected = ["NoSuchKey", "InvalidRange"];
    const { code, headers } = await send({ ...reading(name), range: [0, 0], expected });
    if (code === "NoSuchKey") return undefined;
    return Number(/\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1] ?? 0);
  }

  async function open(name: string): Promise<BackupBytes> {
    const size = await sizeOf(name);
    if (size === undefined) throw new PlaceError(`cannot read ${root}${name}: no such file`);
    return {
      size,
      async read(from, length) {
        const last = Math.min(from + length, size) - 1;
        if (last < from) return Buffer.alloc(0);
        const { body } = await send({ ...reading(name), range: [from, last] });
        if (body.length === last - from + 1) return body;
        throw new PlaceError(`cannot read ${root}${name}: the server does not send the range`);
      },
      [Symbol.asyncDispose]: async () => {},
    };
  }

  /** Reads all pages of a list. Their elements are texts of XML. */
  async function listAll(
    element: string,
    query: Readonly<Record<string, string>>,
    nextQuery: (xml: string) => Readonly<Record<string, string>>,
  ): Promise<readonly string[]> {
    const found: string[] = [];
    let page = query;
    for (;;) {
      const task = `list ${root}`;
      const right = "s3:ListBucket";
      const xml = (await send({ task, right, method: "GET", query: page })).body.toString("utf8");
      const pattern = new RegExp(`<${element}>(.*?)</${element}>`, "gs");
      for (const [, text] of xml.matchAll(pattern)) found.push(text!);
      if (textIn(xml, "IsTruncated") !== "true") return found;
      page = { ...query, ...nextQuery(xml) };
    }
  }

  return {
    address: root.replace(/\/$/, ""),
    addressOf: (name) => root + name,
    prepare() {},
    exists: async (name) => (await sizeOf(name)) !== undefined,
    open,
    async list(nameStart, pattern, filesMax) {
      const query = { "list-type": "2", delimiter: "/", prefix: start + nameStart };
      const all = await listAll("Contents", query, (xml) => ({
        "continuation-token": textIn(xml, "NextContinuationToken") ?? "",
      }));
      const toFile = (xml: string): PlacedFile => ({
        name: nameIn(xml),
        bytes: Number(textIn(xml, "Size")),
      });
      const files = all.map(toFile).filter(({ name }) => pattern.test(name));
      return files.sort((one, other) => (one.name < other.name ? -1 : 1)).slice(-filesMax);
    },
    remove,
    /** Best effort: not every server and not every key allows it, and unfinished uploads are invisible. */
    async removeUnfinished(nameStart, isAbandoned) {
      try {
        const uploads = await listAll(
          "Upload",
          { uploads: "", prefix: start + nameStart },
          (xml) => ({
            "key-marker": textIn(xml, "NextKeyMarker") ?? "",
            "upload-id-marker": textIn(xml, "NextUploadIdMarker") ?? "",
          }),
        );
        for (const xml of uploads) {
          const name = nameIn(xml);
          if (isAbandoned(name)) await abort(name, textIn(xml, "UploadId") ?? "");
        }
      } catch (error) {
        if (!(error instanceof PlaceError)) throw error;
      }
    },
    async upload(name, write) {
      const parts = createParts(writing(name));
      try {
        const result = await write(parts.add);
        await parts.finish();
        const size = await sizeOf(name);
        if (size === parts.size()) return result;
        if (size !== undefined) await remove(name);
        throw new PlaceError(`cannot write ${root}${name}: the server has not stored all of it`);
      } catch (error) {
        const id = parts.uploadId();
        if (id !== undefined) await abort(name, id).catch(() => {});
        throw error;
      }
    },
  };

  async function remove(name: string): Promise<boolean> {
    const task = `delete ${root}${name}`;
    await send({ task, right: "s3:DeleteObject", method: "DELETE", key: start + name });
    return true;
  }

  function writing(name: string) {
    const task = `write ${root}${name}`;
    return (request: Omit<ObjectRequest, "task" | "right" | "key">) =>
      send({ task, right: "s3:PutObject", key: start + name, ...request });
  }

  async function abort(name: string, uploadId: string): Promise<void> {
    await writing(name)({ method: "DELETE", query: { uploadId }, expected: ["NoSuchUpload"] });
  }
}

/** The name of the object that an element of a list is about. Names have no character that XML escapes. */
function nameIn(xml: string): string {
  const key = textIn(xml, "Key") ?? "";
  return key.slice(key.lastIndexOf("/") + 1);
}

/**
 * Collects bytes into parts and sends them one at a time, so one part is in memory. What fits into one part
 * is sent as a whole.
 */
function createParts(
  send: (
    request: Omit<ObjectRequest, "task" | "right" | "key">,
  ) => Promise<{ readonly headers: Headers; readonly body: Buffer }>,
) {
  const part = Buffer.alloc(partBytes);
  const tags: string[] = [];
  let filled = 0;
  let size = 0;
  let uploadId: string | undefined;

  async function sendPart(): Promise<void> {
    if (tags.length === partsMax) throw new PlaceError("a backup in a bucket can have up to 80 GB");
    if (uploadId === undefined) {
      const begun = await send({ method: "POST", query: { uploads: "" } });
      uploadId = textIn(begun.body.toString("utf8"), "UploadId") ?? "";
    }
    const query = { partNumber: String(tags.length + 1), uploadId };
    const { headers } = await send({ method: "PUT", query, body: part.subarray(0, filled) });
    tags.push(headers.get("etag") ?? "");
    filled = 0;
  }

  return {
    size: () => size,
    uploadId: () => uploadId,
    async add(bytes: Uint8Array): Promise<void> {
      size += bytes.length;
      for (let at = 0; at < bytes.length; ) {
        if (filled === partBytes) await sendPart();
        const taken = bytes.subarray(at, at + partBytes - filled);
        part.set(taken, filled);
        filled += taken.length;
        at += taken.length;
      }
    },
    async finish(): Promise<void> {
      if (uploadId === undefined) {
        await send({ method: "PUT", body: part.subarray(0, filled) });
        return;
      }
      await sendPart();
      const list = tags.map(
        (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`,
      );
      const body = Buffer.from(
        `<CompleteMultipartUpload>${list.join("")}</CompleteMultipartUpload>`,
      );
      // An attempt whose answer was lost has ended the upload. The size then shows whether it is there.
      await send({ method: "POST", query: { uploadId }, body, expected: ["NoSuchUpload"] });
      uploadId = undefined;
    },
  };
}
