import { createHash, createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ObjectAccess } from "../domain/operations/backups.ts";
import { PlaceError } from "./place.ts";
import { contentOf, textIn } from "./xml.ts";

/** How long a request is tried. */
export interface Patience {
  readonly attempts: number;
  readonly timeoutMs: number;
  /** Before the second attempt. Doubled before each further one. */
  readonly pauseMs: number;
}

export interface ObjectRequest {
  /** What cannot be done if it fails. */
  readonly task: "list" | "read" | "write" | "delete";
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** Without it, the request is about the bucket. */
  readonly name?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly range?: readonly [first: number, last: number];
  readonly body?: Uint8Array<ArrayBuffer>;
  /** The root of the document that is the answer. */
  readonly document?: string;
  /** Codes of errors that are an answer too. */
  readonly expected?: readonly string[];
}

interface ObjectResponse {
  /** The code of an error that the request expected. Then there is nothing else. */
  readonly code?: string;
  readonly body: Buffer;
  /** What is inside the root of the document. */
  readonly content: string;
  /** The size of the whole file, of which a range was read. */
  readonly size: number;
  /** The `ETag`. A file that changes gets another one. */
  readonly tag: string;
}

export type SendRequest = (request: ObjectRequest) => Promise<ObjectResponse>;

/** A request that sends or asks for this many bytes has twice the time. */
const slowBytes = 4 * 1024 * 1024;

/** Errors that the next attempt may not meet. */
const passing = /^(SlowDown|InternalError|RequestTimeout|XAmzContentSHA256Mismatch)$/;

const problems: Readonly<Record<string, string>> = {
  NoSuchBucket: "there is no such bucket",
  NoSuchKey: "no such file",
  InvalidRange: "it was changed while it was read",
  InvalidAccessKeyId: "the access key is not known there",
  SignatureDoesNotMatch: "the secret access key is wrong",
  ExpiredToken: "the credentials have expired",
  InvalidToken: "the session token is not valid",
  PermanentRedirect: "the bucket is in another region; set AWS_REGION",
  AuthorizationHeaderMalformed: "the bucket is in another region; set AWS_REGION",
  RequestTimeTooSkewed: "the clock of this machine is off",
  XAmzContentSHA256Mismatch: "the data was changed on its way",
};

/**
 * Returns a function that sends signed requests about objects whose keys begin with `start`. Errors that may
 * pass are tried again. Each request is complete in memory, so it can be repeated, and has a time limit, so
 * a server that hangs is noticed.
 */
export function requestsTo(bucket: string, start: string, access: ObjectAccess, how: Patience) {
  const isInHost = access.endpoint.includes("{bucket}");
  const base = access.endpoint.replace("{bucket}", bucket).replace(/\/+$/, "");

  /** Returns a text if it fails for a reason that may pass. */
  async function attempt(request: ObjectRequest): Promise<ObjectResponse | string> {
    const { method, name, query = {}, range, body = null, expected } = request;
    // It would be taken for another folder.
    if (name === "." || name === "..") throw failureOf(request, "no file can have this name");
    const path = (isInHost ? "" : `${bucket}/`) + (name === undefined ? "" : start + name);
    const search = Object.entries(query).map((pair) => pair.map(encode).join("="));
    const url = new URL(`${base}/${path.split("/").map(encode).join("/")}`);
    url.search = search.sort().join("&");
    const headers = sign(method, url, body ?? new Uint8Array(), access, Date.now());
    if (range) headers.range = `bytes=${range.join("-")}`;
    const init = { method, headers, redirect: "manual", body } as const;
    // A part takes minutes on a slow line, and a server that hangs is noticed sooner elsewhere.
    const bytes = range ? range[1] - range[0] : (body?.length ?? 0);
    const timeoutMs = Math.ceil(how.timeoutMs * (1 + bytes / slowBytes));
    let response: Response;
    let received: Buffer;
    try {
      response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
      received = Buffer.from(await response.arrayBuffer());
    } catch (error) {
      const { name: kind, code = kind } = error as NodeJS.ErrnoException;
      if (kind === "TimeoutError") return `${url.host} does not answer in time`;
      return `no connection to ${url.host} (${code})`;
    }
    const { status } = response;
    // The end of an upload is announced with 200 before it is known whether it succeeds.
    const fault = status === 206 ? undefined : contentOf("Error", received.toString("utf8"));
    if (status < 300 && fault === undefined) {
      const answer = readAnswer(request, response, received);
      if (typeof answer !== "string") return answer;
      throw failureOf(request, `${shown(response, received)}, not with ${answer}`);
    }
    const code = textIn(fault ?? "", "Code") ?? "";
    if (expected?.includes(code)) return { code, ...nothing };
    const problem = problemOf(status, code);
    if (status >= 500 || status === 429 || passing.test(code)) return problem;
    throw failureOf(request, problem);
  }

  function failureOf({ task, name = "" }: ObjectRequest, problem: string): PlaceError {
    return new PlaceError(`cannot ${task} s3://${bucket}/${start}${name}: ${problem}`);
  }

  return async (request: ObjectRequest): Promise<ObjectResponse> => {
    for (let count = 1; ; count++) {
      const result = await attempt(request);
      if (typeof result !== "string") return result;
      if (count >= how.attempts) throw failureOf(request, result);
      // At random, so that several services do not return at the same moment.
      await sleep(how.pauseMs * 2 ** (count - 1) * (0.5 + Math.random()));
    }
  };
}

const nothing = { body: Buffer.alloc(0), content: "", size: 0, tag: "" };

/**
 * Reads what a server answers to a request that succeeds. Returns what is missing unless it is complete: a
 * proxy, a login page or a server that fails half-way may answer 200 too, and says nothing about the bucket.
 */
function readAnswer(
  { method, range, document }: ObjectRequest,
  { status, headers }: Response,
  body: Buffer,
): ObjectResponse | string {
  const tag = headers.get("etag") ?? "";
  if (range) {
    const sent = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers.get("content-range") ?? "");
    const [, first, last = 0, size = 0] = sent?.map(Number) ?? [];
    const isRange = status === 206 && first === range[0] && last === Math.min(range[1], size - 1);
    const isWhole = isRange && body.length === last - first + 1;
    return isWhole ? { ...nothing, body, size, tag } : `bytes ${range.join("-")}`;
  }
  if (document !== undefined) {
    const content = contentOf(document, body.toString("utf8"));
    return content === undefined ? `a complete <${document}>` : { ...nothing, content };
  }
  if (method === "PUT") return tag === "" ? "an ETag" : { ...nothing, tag };
  return body.length === 0 ? nothing : "an empty body";
}

/** What a server answered. Nothing else is shown of a page that may be private. */
function shown({ status, headers }: Response, body: Buffer): string {
  const range = /^[\w */-]{1,64}$/.exec(headers.get("content-range") ?? "")?.[0];
  const root = /^\s*(?:<[?!][^>]*>\s*)*<([\w:.-]+)/.exec(body.toString("utf8", 0, 500))?.[1];
  const found = root === undefined ? `${body.length} bytes` : `<${root}>`;
  return `the server answers ${status} with ${range ? `${range}, ` : ""}${found}`;
}

function problemOf(status: number, code: string): string {
  const known = problems[status === 301 ? "PermanentRedirect" : code];
  if (known !== undefined) return known;
  if (status === 403) return "the credentials lack the right to do this";
  // The code comes from the server, so it may be anything.
  const answer = `answers ${status} ${/^\w{1,64}$/.test(code) ? code : ""}`.trimEnd();
  return `the server ${status < 500 ? "" : "is overloaded or out of order, it "}${answer}`;
}

/** As signatures need it: `encodeURIComponent` leaves some characters that must be encoded. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) =>
    `%${Buffer.from(one).toString("hex")}`.toUpperCase(),
  );
}

/** The headers of a request that is signed with version 4 of the signatures of AWS. */
export function sign(
  method: string,
  { host, pathname, search }: URL,
  body: Uint8Array,
  { region, accessKeyId, secretAccessKey, sessionToken }: ObjectAccess,
  now: number,
): Record<string, string> {
  const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");
  const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  const token = sessionToken === "" ? {} : { "x-amz-security-token": sessionToken };
  const hash = sha256(body);
  const signed = { host, "x-amz-content-sha256": hash, "x-amz-date": time, ...token };
  const names = Object.keys(signed).join(";");
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
  const request = [method, pathname, search.slice(1), lines.join(""), names, hash].join("\n");
  const day = [time.slice(0, 8), region, "s3", "aws4_request"];
  const scope = day.join("/");
  const key = day.reduce(hmac, Buffer.from(`AWS4${secretAccessKey}`));
  const signature = hmac(key, ["AWS4-HMAC-SHA256", time, scope, sha256(request)].join("\n"));
  const signer = `Credential=${accessKeyId}/${scope}, SignedHeaders=${names}`;
  const authorization = `AWS4-HMAC-SHA256 ${signer}, Signature=${signature.toString("hex")}`;
  return { ...signed, authorization, "accept-encoding": "identity" };
}
