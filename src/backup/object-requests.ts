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

export interface ObjectRequest {
  /** What cannot be done if it fails, with the address, and the right that it needs. */
  readonly task: string;
  readonly right: string;
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** Without it, the request is about the bucket. */
  readonly key?: string;
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

export type SendRequest = (request: ObjectRequest) => Promise<ObjectResponse>;

/** The storage may answer the next attempt otherwise. */
const passing = new Set([
  ...["SlowDown", "InternalError", "RequestTimeout", "XAmzContentSHA256Mismatch", "BadDigest"],
]);

const changed = "the data was changed on its way";

const problems: Readonly<Record<string, string>> = {
  NoSuchBucket: "there is no such bucket",
  InvalidAccessKeyId: "the access key is not known there",
  SignatureDoesNotMatch: "the secret access key is wrong",
  ExpiredToken: "the credentials have expired",
  InvalidToken: "the session token is not valid",
  PermanentRedirect: "the bucket is in another region; set AWS_REGION",
  AuthorizationHeaderMalformed: "the bucket is in another region; set AWS_REGION",
  RequestTimeTooSkewed: "the clock of this machine is off",
  XAmzContentSHA256Mismatch: changed,
  BadDigest: changed,
};

/**
 * Sends signed requests to a bucket. Errors that may pass are tried again. Each request is complete in
 * memory, so it can be repeated, and has a time limit, so a server that hangs is noticed.
 */
export function requestsTo(bucket: string, access: ObjectAccess, patience: Patience): SendRequest {
  const { attempts, timeoutMs, pauseMs } = patience;
  const isInHost = access.endpoint.includes("{bucket}");
  const base = access.endpoint.replace("{bucket}", bucket).replace(/\/+$/, "");

  async function attempt(request: ObjectRequest): Promise<Attempt> {
    const { method, key = "", query = {}, range, body = new Uint8Array() } = request;
    const path = isInHost ? key : `${bucket}/${key}`;
    const parameters = Object.entries(query).sort(([one], [other]) => (one < other ? -1 : 1));
    const search = parameters.map((pair) => pair.map(encode).join("=")).join("&");
    const url = new URL(`${base}/${path.split("/").map(encode).join("/")}?${search}`);
    const headers = sign(method, url, search, body, access, Date.now());
    if (range) headers.range = `bytes=${range[0]}-${range[1]}`;
    try {
      const response = await fetch(url, {
        method,
        headers: { ...headers, "accept-encoding": "identity" },
        ...(body.length > 0 && { body }),
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
      });
      const received = Buffer.from(await response.arrayBuffer());
      return toAttempt(request, response, received);
    } catch (error) {
      return { problem: connectionProblem(url.host, error), isPassing: true };
    }
  }

  return async (request) => {
    for (let count = 1; ; count++) {
      const result = await attempt(request);
      if ("body" in result) return result;
      if (!result.isPassing || count >= attempts) {
        throw new PlaceError(`cannot ${request.task}: ${result.problem}`);
      }
      // At random, so that several services do not return at the same moment.
      await sleep(pauseMs * 2 ** (count - 1) * (0.5 + Math.random()));
    }
  };
}

type Attempt = ObjectResponse | { readonly problem: string; readonly isPassing: boolean };

function toAttempt(request: ObjectRequest, response: Response, body: Buffer): Attempt {
  const { status, headers } = response;
  const text = status >= 300 || request.method === "POST" ? body.toString("utf8") : "";
  // The end of an upload is announced with 200 before it is known whether it succeeds.
  const hasFailed = status >= 300 || text.includes("<Error>");
  if (!hasFailed) {
    const length = headers.get("content-length");
    const isCut = length !== null && Number(length) !== body.length;
    return isCut
      ? { problem: "the answer was cut off", isPassing: true }
      : { headers, body, code: undefined };
  }
  const code = textIn(text, "Code") ?? (status === 301 ? "PermanentRedirect" : "");
  if (request.expected?.includes(code)) return { headers, body, code };
  const isPassing = status >= 500 || status === 429 || passing.has(code);
  return { problem: problemOf(request, status, code), isPassing };
}

function problemOf({ right }: ObjectRequest, status: number, code: string): string {
  const known = problems[code];
  if (known !== undefined) return known;
  if (status === 403) return `the credentials lack the right ${right}`;
  // The code comes from the server, so it may be anything.
  const name = /^\w{1,64}$/.test(code) ? ` ${code}` : "";
  if (status < 500) return `the server answers ${status}${name}`;
  return `the server is overloaded or out of order, it answers ${status}${name}`;
}

function connectionProblem(host: string, error: unknown): string {
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === "TimeoutError") return `${host} does not answer in time`;
  return `no connection to ${host}${code === undefined ? "" : ` (${code})`}`;
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
  { host, pathname }: URL,
  search: string,
  body: Uint8Array,
  { region, accessKeyId, secretAccessKey, sessionToken }: ObjectAccess,
  now: number,
): Record<string, string> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  const bodyHash = createHash("sha256").update(body).digest("hex");
  const signed: Record<string, string> = {
    host,
    "x-amz-content-sha256": bodyHash,
    "x-amz-date": time,
    ...(sessionToken && { "x-amz-security-token": sessionToken }),
  };
  const names = Object.keys(signed).join(";");
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
  const canonical = [method, pathname, search, lines.join(""), names, bodyHash].join("\n");
  const scope = [time.slice(0, 8), region, "s3", "aws4_request"];
  const digest = createHash("sha256").update(canonical).digest("hex");
  const toSign = ["AWS4-HMAC-SHA256", time, scope.join("/"), digest].join("\n");
  const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const key = scope.reduce(hmac, Buffer.from(`AWS4${secretAccessKey}`));
  const credential = `Credential=${accessKeyId}/${scope.join("/")}`;
  const signature = hmac(key, toSign).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}`;
  const { host: _, ...sent } = signed;
  return { ...sent, authorization };
}
