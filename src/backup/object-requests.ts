import { createHash, createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ObjectAccess } from "../domain/operations/backups.ts";
import { PlaceError } from "./place.ts";

/** How long a request is tried. */
export interface Patience {
  readonly attempts: number;
  readonly timeoutMs: number;
  /** Before the second attempt. Doubled before each further one. */
  readonly pauseMs: number;
}

/** What can be done, and the right that it needs. */
const rights = {
  list: "s3:ListBucket",
  read: "s3:GetObject",
  write: "s3:PutObject",
  delete: "s3:DeleteObject",
} as const;

export interface ObjectRequest {
  readonly task: keyof typeof rights;
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** Without it, the request is about the bucket. */
  readonly name?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly range?: readonly [first: number, last: number];
  readonly body?: Uint8Array<ArrayBuffer>;
  /** Codes of errors that are an answer too. */
  readonly expected?: readonly string[];
}

export interface ObjectResponse {
  readonly headers: Headers;
  readonly body: Buffer;
  /** The code of the error, if the request expected it. */
  readonly code: string | undefined;
}

/** Errors that the next attempt may not meet. */
const passing = /^(SlowDown|InternalError|RequestTimeout|XAmzContentSHA256Mismatch|BadDigest)$/;

const [changed, elsewhere] = [
  "the data was changed on its way",
  "the bucket is in another region; set AWS_REGION",
];

const problems: Readonly<Record<string, string>> = {
  NoSuchBucket: "there is no such bucket",
  NoSuchKey: "no such file",
  InvalidAccessKeyId: "the access key is not known there",
  SignatureDoesNotMatch: "the secret access key is wrong",
  ExpiredToken: "the credentials have expired",
  InvalidToken: "the session token is not valid",
  PermanentRedirect: elsewhere,
  AuthorizationHeaderMalformed: elsewhere,
  RequestTimeTooSkewed: "the clock of this machine is off",
  XAmzContentSHA256Mismatch: changed,
  BadDigest: changed,
};

/** Objects in a bucket whose keys start alike. */
export interface ObjectFolder {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly start: string;
}

/**
 * Returns a function that sends signed requests. Errors that may pass are tried again. Each request is
 * complete in memory, so it can be repeated, and has a time limit, so a server that hangs is noticed.
 */
export function requestsTo(
  { bucket, start }: ObjectFolder,
  access: ObjectAccess,
  { attempts, timeoutMs, pauseMs }: Patience,
) {
  const isInHost = access.endpoint.includes("{bucket}");
  const base = access.endpoint.replace("{bucket}", bucket).replace(/\/+$/, "");

  async function attempt(request: ObjectRequest): Promise<ObjectResponse | Problem> {
    const { task, method, name, query = {}, range, body = new Uint8Array(), expected } = request;
    const path = (isInHost ? "" : `${bucket}/`) + (name === undefined ? "" : start + name);
    const search = Object.entries(query).map((pair) => pair.map(encode).join("="));
    const url = new URL(
      `${base}/${path.split("/").map(encode).join("/")}?${search.sort().join("&")}`,
    );
    const headers = sign(method, url, body, access, Date.now());
    if (range) headers.range = `bytes=${range.join("-")}`;
    const signal = AbortSignal.timeout(timeoutMs);
    const content = body.length > 0 ? { body } : {};
    try {
      const response = await fetch(url, {
        method,
        headers,
        signal,
        redirect: "manual",
        ...content,
      });
      const received = Buffer.from(await response.arrayBuffer());
      const { status } = response;
      const xml = status >= 300 || method === "POST" ? received.toString("utf8") : "";
      // The end of an upload is announced with 200 before it is known whether it succeeds.
      const hasFailed = status >= 300 || xml.includes("<Error>");
      const code = hasFailed
        ? (textIn(xml, "Code") ?? (status === 301 ? "PermanentRedirect" : ""))
        : undefined;
      if (code === undefined || expected?.includes(code))
        return { headers: response.headers, body: received, code };
      const isPassing = status >= 500 || status === 429 || passing.test(code);
      return { problem: problemOf(rights[task], status, code), isPassing };
    } catch (error) {
      const { name: kind, code = kind } = error as NodeJS.ErrnoException;
      const isLate = kind === "TimeoutError";
      const problem = isLate
        ? `${url.host} does not answer in time`
        : `no connection to ${url.host} (${code})`;
      return { problem, isPassing: true };
    }
  }

  return async (request: ObjectRequest): Promise<ObjectResponse> => {
    for (let count = 1; ; count++) {
      const result = await attempt(request);
      if ("body" in result) return result;
      if (!result.isPassing || count >= attempts) {
        const address = `s3://${bucket}/${start}${request.name ?? ""}`;
        throw new PlaceError(`cannot ${request.task} ${address}: ${result.problem}`);
      }
      // At random, so that several services do not return at the same moment.
      await sleep(pauseMs * 2 ** (count - 1) * (0.5 + Math.random()));
    }
  };
}

interface Problem {
  readonly problem: string;
  readonly isPassing: boolean;
}

function problemOf(right: string, status: number, code: string): string {
  const known = problems[code];
  if (known !== undefined) return known;
  if (status === 403) return `the credentials lack the right ${right}`;
  // The code comes from the server, so it may be anything.
  const answer = `answers ${status} ${/^\w{1,64}$/.test(code) ? code : ""}`.trimEnd();
  return status < 500
    ? `the server ${answer}`
    : `the server is overloaded or out of order, it ${answer}`;
}

/** The text of the first element with this name. */
export function textIn(xml: string, element: string): string | undefined {
  return new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1];
}

/** As signatures need it: `encodeURIComponent` leaves some characters that must be encoded. */
function encode(text: string): string {
  const toHex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/[!'()*]/g, toHex);
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
  const signed: Record<string, string> = {
    ...{ host, "x-amz-content-sha256": sha256(body), "x-amz-date": time },
    ...(sessionToken && { "x-amz-security-token": sessionToken }),
  };
  const names = Object.keys(signed).join(";");
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
  const request = [method, pathname, search.slice(1), lines.join(""), names, sha256(body)];
  const scope = [time.slice(0, 8), region, "s3", "aws4_request"];
  const toSign = ["AWS4-HMAC-SHA256", time, scope.join("/"), sha256(request.join("\n"))];
  const key = scope.reduce(hmac, Buffer.from(`AWS4${secretAccessKey}`));
  const signature = hmac(key, toSign.join("\n")).toString("hex");
  const credential = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope.join("/")}`;
  const authorization = `${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...signed, authorization, "accept-encoding": "identity" };
}
