// An object storage of the tests' own, with the rules that matter for backups, and with faults.
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a request is, for a test that breaks some of them. */
export interface StorageRequest {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  /** How many requests came before it. */
  readonly index: number;
}

/** An answer of something that is no object storage, such as a proxy. */
export interface OtherAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
}

export type Fault =
  | { readonly status: number; readonly code: string }
  | OtherAnswer
  /** Never answers. */
  | "hang"
  /** Closes the connection in the middle of the request or of the response. */
  | "cut"
  /** Damages the body on its way to the server. */
  | "damage"
  /** Does what was asked and closes the connection instead of the answer. */
  | "lose the answer";

interface Upload {
  readonly key: string;
  readonly parts: Map<number, Buffer>;
  readonly metadata: Record<string, string>;
}

export interface ObjectStorage {
  readonly bucket: string;
  readonly endpoint: string;
  /** The variables with which a command uses it. */
  readonly variables: Record<string, string>;
  readonly objects: Map<string, Buffer>;
  /** Uploads that were neither completed nor aborted, by their id. */
  readonly uploads: Map<string, Upload>;
  readonly requests: string[];
  /** Decides which requests fail. */
  fault: (request: StorageRequest) => Fault | undefined;
  stop(): void;
}

const partBytesMin = 5 * 1024 * 1024;
const clockErrorMs = 15 * 60_000;
const credentials = { id: "TESTKEY", secret: "secret/of+tests", token: "token-of-tests" };

class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

export async function startObjectStorage(bucket = "backups"): Promise<ObjectStorage> {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Upload>();
  // When an object was stored, and headers that belong to it. Litestream needs both to restore a time.
  const storedAt = new WeakMap<Buffer, Date>();
  const metadataOf = new WeakMap<Buffer, Record<string, string>>();

  function store(key: string, object: Buffer, metadata: Record<string, string>): void {
    objects.set(key, object);
    storedAt.set(object, new Date());
    metadataOf.set(object, metadata);
  }
  const requests: string[] = [];
  let uploadCount = 0;

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      const { status, code } = error instanceof Refusal ? error : new Refusal(500, "InternalError");
      send(
        response,
        status,
        `${declaration}<Error><Code>${code}</Code><Message>no</Message></Error>`,
      );
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, "http://storage");
    const [, inBucket = "", key = ""] = /^\/([^/]*)\/?(.*)$/s.exec(
      decodeURIComponent(url.pathname),
    )!;
    const method = request.method!;
    const described = { method, key, query: url.searchParams, index: requests.length };
    requests.push(`${method} ${key}${url.search}`);
    const fault = storage.fault(described);
    if (fault === "hang") return;
    if (fault === "cut" && method !== "GET") return void request.socket.destroy();
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    if (fault === "damage") body[0]! ^= 1;
    checkSignature(request, body);
    if (typeof fault === "object" && "body" in fault) {
      return send(response, fault.status, fault.body, fault.headers);
    }
    if (typeof fault === "object") throw new Refusal(fault.status, fault.code);
    if (inBucket !== bucket) throw new Refusal(404, "NoSuchBucket");
    const { status, text = "", bytes, headers } = act(method, key, url.searchParams, body, request);
    if (fault === "lose the answer") return void request.socket.destroy();
    if (fault === "cut") {
      const content = bytes ?? Buffer.from(text);
      response.writeHead(status, { ...headers, "content-length": content.length });
      response.write(content.subarray(0, Math.floor(content.length / 2)));
      return void setTimeout(() => request.socket.destroy(), 20);
    }
    send(response, status, bytes ?? text, headers);
  }

  interface Answer {
    readonly status: number;
    readonly text?: string;
    readonly bytes?: Buffer;
    readonly headers?: Record<string, string>;
  }

  function act(
    method: string,
    key: string,
    query: URLSearchParams,
    body: Buffer,
    request: IncomingMessage,
  ): Answer {
    if (key === "") {
      if (method !== "GET") throw new Refusal(405, "MethodNotAllowed");
      return { status: 200, text: query.has("uploads") ? listUploads(query) : listObjects(query) };
    }
    if (query.has("uploads")) {
      const id = `upload-${++uploadCount}`;
      uploads.set(id, { key, parts: new Map(), metadata: metadataIn(request) });
      return {
        status: 200,
        text: documentOf("InitiateMultipartUploadResult", `<UploadId>${id}</UploadId>`),
      };
    }
    const id = query.get("uploadId");
    if (id !== null) return actOnUpload(method, key, id, query, body);
    if (method === "PUT") {
      store(key, body, metadataIn(request));
      return { status: 200, headers: { etag: tagOf(body) } };
    }
    if (method === "DELETE") {
      objects.delete(key);
      return { status: 204 };
    }
    const object = objects.get(key);
    if (!object) throw new Refusal(404, "NoSuchKey");
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
    const etag = tagOf(object);
    if (!range) return { status: 200, bytes: object, headers: { etag, ...metadataOf.get(object) } };
    const [, first, last] = range;
    if (Number(first) >= object.length) throw new Refusal(416, "InvalidRange");
    const bytes = object.subarray(Number(first), last ? Number(last) + 1 : undefined);
    const end = Number(first) + bytes.length - 1;
    return {
      status: 206,
      bytes,
      headers: { etag, "content-range": `bytes ${first}-${end}/${object.length}` },
    };
  }

  function actOnUpload(
    method: string,
    key: string,
    id: string,
    query: URLSearchParams,
    body: Buffer,
  ): Answer {
    const upload = uploads.get(id);
    if (upload?.key !== key) throw new Refusal(404, "NoSuchUpload");
    if (method === "PUT") {
      const number = Number(query.get("partNumber"));
      if (!(number >= 1 && number <= 10_000)) throw new Refusal(400, "InvalidArgument");
      upload.parts.set(number, body);
      return { status: 200, headers: { etag: tagOf(body) } };
    }
    uploads.delete(id);
    if (method === "DELETE") return { status: 204 };
    const named = [
      ...body
        .toString()
        .matchAll(/<Part><PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag><\/Part>/g),
    ];
    const parts = named.map(([, number, tag], index) => {
      const part = upload.parts.get(Number(number));
      const before = named[index - 1]?.[1];
      if (before !== undefined && Number(before) >= Number(number))
        throw new Refusal(400, "InvalidPartOrder");
      if (!part || tagOf(part) !== tag) throw new Refusal(400, "InvalidPart");
      return part;
    });
    if (parts.length === 0) throw new Refusal(400, "MalformedXML");
    // Some servers want all parts but the last to be equal.
    for (const part of parts.slice(0, -1)) {
      if (part.length < partBytesMin || part.length !== parts[0]!.length)
        throw new Refusal(400, "EntityTooSmall");
    }
    const object = Buffer.concat(parts);
    store(key, object, upload.metadata);
    const tag = `<ETag>${escaped(tagOf(object))}</ETag>`;
    return { status: 200, text: documentOf("CompleteMultipartUploadResult", tag) };
  }

  /** Pages of two, so that every list has several. */
  function listObjects(query: URLSearchParams): string {
    if (query.get("list-type") !== "2") throw new Refusal(400, "InvalidArgument");
    const prefix = query.get("prefix") ?? "";
    const after = query.get("continuation-token") ?? "";
    const isListed = (key: string) =>
      key.startsWith(prefix) &&
      !(query.has("delimiter") && key.slice(prefix.length).includes("/")) &&
      key > after;
    const keys = [...objects.keys()].filter(isListed).sort();
    const page = keys.slice(0, 2).map((key) => {
      const object = objects.get(key)!;
      const at = storedAt.get(object) ?? new Date(0);
      const time = `<LastModified>${at.toISOString()}</LastModified>`;
      return `<Contents><Key>${escaped(key)}</Key>${time}<Size>${object.length}</Size></Contents>`;
    });
    const isTruncated = keys.length > 2;
    const token = `<NextContinuationToken>${escaped(keys[1] ?? "")}</NextContinuationToken>`;
    const next = `<IsTruncated>${isTruncated}</IsTruncated>${isTruncated ? token : ""}`;
    return documentOf("ListBucketResult", next + page.join(""));
  }

  function listUploads(query: URLSearchParams): string {
    const prefix = query.get("prefix") ?? "";
    const found = [...uploads].filter(([, { key }]) => key.startsWith(prefix));
    const texts = found.map(
      ([id, { key }]) => `<Upload><Key>${escaped(key)}</Key><UploadId>${id}</UploadId></Upload>`,
    );
    const isTruncated = "<IsTruncated>false</IsTruncated>";
    return documentOf("ListMultipartUploadsResult", isTruncated + texts.join(""));
  }

  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const storage: ObjectStorage = {
    bucket,
    endpoint,
    variables: {
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_REGION: "eu-test-1",
      AWS_ACCESS_KEY_ID: credentials.id,
      AWS_SECRET_ACCESS_KEY: credentials.secret,
      AWS_SESSION_TOKEN: credentials.token,
    },
    objects,
    uploads,
    requests,
    fault: () => undefined,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
  return storage;
}

function send(response: ServerResponse, status: number, body: string | Buffer, headers = {}): void {
  response.writeHead(status, headers);
  response.end(body);
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** A document as AWS sends it. */
export const documentOf = (root: string, content: string) =>
  `${declaration}<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${root}>`;

/** As XML needs it. */
const escaped = (text: string) => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

const metadataIn = ({ headers }: IncomingMessage) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith("x-amz-meta-")),
  ) as Record<string, string>;

const tagOf = (bytes: Buffer) => `"${createHash("md5").update(bytes).digest("hex")}"`;
const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");

/** Encodes whatever is not unreserved, whether the request had it encoded or not. */
const encoded = (text: string) =>
  Array.from(Buffer.from(decodeURIComponent(text)), (byte) => {
    const one = String.fromCharCode(byte);
    return /[\w.~-]/.test(one) ? one : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");

/**
 * Checks a request as version 4 of the signatures of AWS demands, from what arrived: AWS encodes path and query
 * itself, and refuses a header of its own that is not signed.
 */
function checkSignature({ method, headers, url }: IncomingMessage, body: Buffer): void {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;
  const [, id, day, region, names = "", signature] =
    pattern.exec(headers.authorization ?? "") ?? [];
  if (id === undefined) throw new Refusal(403, "AccessDenied");
  if (id !== credentials.id) throw new Refusal(403, "InvalidAccessKeyId");
  if (headers["x-amz-security-token"] !== credentials.token) throw new Refusal(400, "InvalidToken");
  if (region !== "eu-test-1") throw new Refusal(400, "AuthorizationHeaderMalformed");
  const time = headers["x-amz-date"] as string;
  const at = Date.parse(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(at - Date.now()) < clockErrorMs)) throw new Refusal(403, "RequestTimeTooSkewed");
  const claimed = headers["x-amz-content-sha256"] as string;
  const own = Object.keys(headers).filter((name) => name.startsWith("x-amz-"));
  for (const name of ["host", "x-amz-content-sha256", "x-amz-date", ...own]) {
    if (!names.split(";").includes(name)) throw new Refusal(403, "AccessDenied");
  }
  const lines = names.split(";").map((name) => `${name}:${headers[name]}\n`);
  const [path = "", search = ""] = url!.split("?");
  const pairs = search.split("&").filter(Boolean);
  const parameters = pairs.map((pair) => [...pair.split("="), ""].slice(0, 2).map(encoded));
  parameters.sort(([one], [other]) => (one! < other! ? -1 : 1));
  const query = parameters.map((pair) => pair.join("="));
  const canonicalPath = path.split("/").map(encoded).join("/");
  const request = [method, canonicalPath, query.join("&"), lines.join(""), names, claimed];
  const canonical = request.join("\n");
  const toSign = `AWS4-HMAC-SHA256\n${time}\n${day}/${region}/s3/aws4_request\n${sha256(canonical)}`;
  let key = Buffer.from(`AWS4${credentials.secret}`);
  for (const text of [day!, region, "s3", "aws4_request", toSign]) {
    key = createHmac("sha256", key).update(text).digest();
  }
  if (day !== time.slice(0, 8) || key.toString("hex") !== signature)
    throw new Refusal(403, "SignatureDoesNotMatch");
  if (sha256(body) !== claimed) throw new Refusal(400, "XAmzContentSHA256Mismatch");
}
