import type { ObjectAccess } from "../domain/operations/backups.ts";
import { type Patience, requestsTo, textIn } from "./object-requests.ts";
import { type BackupPlace, type PlacedFile, PlaceError } from "./place.ts";
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
  const { bucket, prefix } = parseAddress(address, access);
  const send = requestsTo(bucket, prefix, access, patience);
  const root = `s3://${bucket}/${prefix}`;

  /** Undefined if there is no such object. A HEAD request would not say why it is refused. */
  async function sizeOf(name: string, expected = ["NoSuchKey", "InvalidRange"]) {
    const range = [0, 0] as const;
    const { code, headers } = await send({ task: "read", method: "GET", name, range, expected });
    if (code === "NoSuchKey") return undefined;
    return Number(/\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1] ?? 0);
  }

  async function remove(name: string): Promise<boolean> {
    await send({ task: "delete", method: "DELETE", name });
    return true;
  }

  /** Lists what has a name that starts like this. Returns the elements, and the whole answer. */
  async function listElements(element: string, query: Readonly<Record<string, string>>) {
    const { body } = await send({ task: "list", method: "GET", query });
    const xml = body.toString("utf8");
    const found = [...xml.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"))];
    return { xml, elements: found.map(([, text]) => text!) };
  }

  const abort = (name: string, uploadId: string) =>
    send({
      task: "write",
      method: "DELETE",
      name,
      query: { uploadId },
      expected: ["NoSuchUpload"],
    });

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
          throw new PlaceError(`cannot read ${root}${name}: the server sends another range`);
        },
        [Symbol.asyncDispose]: async () => {},
      };
    },
    async list(nameStart, pattern, filesMax) {
      const query = { "list-type": "2", delimiter: "/", prefix: prefix + nameStart };
      const found: PlacedFile[] = [];
      for (let page: Readonly<Record<string, string>> | undefined = query; page; ) {
        const { xml, elements } = await listElements("Contents", page);
        const toFile = (text: string) => ({
          name: nameIn(text),
          bytes: Number(textIn(text, "Size")),
        });
        found.push(...elements.map(toFile).filter(({ name }) => pattern.test(name)));
        const next = textIn(xml, "NextContinuationToken");
        page = next === undefined ? undefined : { ...query, "continuation-token": next };
      }
      return found.sort((one, other) => (one.name < other.name ? -1 : 1)).slice(-filesMax);
    },
    remove,
    /** Best effort: not every server and not every key allows it, and unfinished uploads are invisible. */
    async removeUnfinished(nameStart, isAbandoned) {
      try {
        const query = { uploads: "", prefix: prefix + nameStart };
        for (const text of (await listElements("Upload", query)).elements) {
          if (isAbandoned(nameIn(text))) await abort(nameIn(text), textIn(text, "UploadId") ?? "");
        }
      } catch {
        // The lifecycle rule of the bucket removes them later.
      }
    },
    /** One part is in memory. What fits into one part is sent as a whole. */
    async upload(name, write) {
      const part = Buffer.alloc(partBytes);
      const tags: string[] = [];
      let [filled, sent, uploadId] = [0, 0, ""];
      const request = { task: "write", name } as const;

      async function sendPart(): Promise<void> {
        if (tags.length === partsMax) throw new PlaceError(`${root}${name} would exceed 80 GB`);
        if (uploadId === "") {
          const { body } = await send({ ...request, method: "POST", query: { uploads: "" } });
          uploadId = textIn(body.toString("utf8"), "UploadId") ?? "";
        }
        const query = { partNumber: String(tags.length + 1), uploadId };
        const body = part.subarray(0, filled);
        const { headers } = await send({ ...request, method: "PUT", query, body });
        tags.push(
          `<Part><PartNumber>${query.partNumber}</PartNumber><ETag>${headers.get("etag")}</ETag></Part>`,
        );
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
        if (uploadId === "") {
          sent = filled;
          await send({ ...request, method: "PUT", body: part.subarray(0, filled) });
        } else {
          await sendPart();
          const body = Buffer.from(
            `<CompleteMultipartUpload>${tags.join("")}</CompleteMultipartUpload>`,
          );
          const expected = ["NoSuchUpload"];
          // An attempt whose answer was lost has ended the upload. The size then shows whether it is there.
          await send({ ...request, method: "POST", query: { uploadId }, body, expected });
        }
        const size = await sizeOf(name);
        if (size === sent) return result;
        if (size !== undefined) await remove(name);
        throw new PlaceError(`cannot write ${root}${name}: the server has not stored all of it`);
      } catch (error) {
        if (uploadId !== "") await abort(name, uploadId).catch(() => {});
        throw error;
      }
    },
  };
}

function parseAddress(address: string, access: ObjectAccess) {
  const [, bucket, path = ""] =
    /^s3:\/\/([A-Za-z0-9][\w.-]{1,61}[A-Za-z0-9])(\/.*?)?\/*$/s.exec(address) ?? [];
  if (bucket === undefined || /\/(\/|\.\.?(\/|$))/.test(path)) {
    throw new PlaceError(`${address} is not s3://BUCKET/PREFIX`);
  }
  const { endpoint, accessKeyId, secretAccessKey } = access;
  if (accessKeyId === "" || secretAccessKey === "") {
    const remedy = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
    throw new PlaceError(`${address} cannot be used without credentials; ${remedy}`);
  }
  if (!/^https?:/.test(endpoint) || !URL.canParse(endpoint.replace("{bucket}", bucket))) {
    throw new PlaceError("the address of the object storage must be https://… or http://…");
  }
  return { bucket, prefix: path === "" ? "" : `${path.slice(1)}/` };
}

/** The name of the object that an element of a list is about. Names have no character that XML escapes. */
function nameIn(xml: string): string {
  return textIn(xml, "Key")?.replace(/^.*\//s, "") ?? "";
}
