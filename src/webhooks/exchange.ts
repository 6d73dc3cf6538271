import { type ClientRequest, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { WebhookRequest } from "../domain/webhooks/sender.ts";
import { answerBytesMax } from "../domain/webhooks/webhook.ts";
import { isSameAddress } from "./addresses.ts";
import { AttemptFailure, headTooLong } from "./failures.ts";
import type { ReceiverUrl } from "./urls.ts";

type ReceiverResponse = Awaited<ReturnType<typeof readResponse>>;

export interface ExchangeOptions {
  /** Certificates of authorities, in PEM, instead of those that the runtime knows. */
  readonly ca: string | undefined;
  /** Aborts when the attempt has to end. */
  readonly signal: AbortSignal;
  /** The time that is left until then. */
  readonly leftMs: () => number;
}

/** More addresses would leave too little time for each. */
const addressesTriedMax = 4;
const headBytesMax = 16 * 1024;
const bodyBytesMax = 64 * 1024;

/**
 * Sends a request to the first of these addresses that accepts a connection, and to no other. Each gets
 * an equal share of the time that is left, so that one that does not respond leaves time for the next.
 */
export async function exchange(
  url: ReceiverUrl,
  addresses: readonly string[],
  request: WebhookRequest,
  { ca, signal, leftMs }: ExchangeOptions,
): Promise<ReceiverResponse> {
  const tried = addresses.slice(0, addressesTriedMax);
  for (const [index, address] of tried.entries()) {
    const others = tried.length - index - 1;
    const sent = open(url, address, request, ca, signal);
    const giveUp = () => sent.destroy(new AttemptFailure(`no connection to ${address} in time`));
    // The last one has until the end of the attempt.
    const share = others > 0 ? setTimeout(giveUp, leftMs() / (others + 1)) : undefined;
    let isConnected = false;
    const connected = (socket: Socket) => {
      clearTimeout(share);
      const problem = findProblem(socket, url, address);
      if (problem) return sent.destroy(problem);
      isConnected = true;
      sent.end(request.body);
    };
    sent.once("socket", (socket) =>
      socket.once(url.isSecure ? "secureConnect" : "connect", () => connected(socket)),
    );
    try {
      return await responseTo(sent);
    } catch (error) {
      if (isConnected || others === 0 || signal.aborted) throw error;
    } finally {
      clearTimeout(share);
      sent.destroy();
    }
  }
  throw new AttemptFailure("the host does not resolve");
}

/** Begins a request on a new connection, to the checked address instead of the host. */
function open(
  url: ReceiverUrl,
  address: string,
  { headers, body }: WebhookRequest,
  ca: string | undefined,
  signal: AbortSignal,
): ClientRequest {
  return (url.isSecure ? requestSecure : requestPlain)({
    method: "POST",
    host: address,
    port: url.port,
    path: url.target,
    headers: {
      host: url.authority,
      ...headers,
      "content-length": Buffer.byteLength(body),
      connection: "close",
    },
    agent: false,
    signal,
    maxHeaderSize: headBytesMax,
    // Accepts bare line feeds and other small faults. That is safe: the connection has only one response.
    insecureHTTPParser: true,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 changes the default.
    rejectUnauthorized: true,
    // The certificate is checked for the name in the URL. SNI cannot contain an address.
    ...(url.isLiteral ? {} : { servername: url.host }),
    ...(ca === undefined ? {} : { ca }),
  });
}

/** Checks address and certificate before anything is sent, in case the runtime has not. */
function findProblem(socket: Socket, url: ReceiverUrl, address: string) {
  if (!isSameAddress(socket.remoteAddress ?? "", address)) {
    return new AttemptFailure(`the connection does not lead to ${address}`);
  }
  if (url.isSecure && !(socket as TLSSocket).authorized) {
    return new AttemptFailure(`the certificate is not valid for ${url.host}`);
  }
  return undefined;
}

function responseTo(sent: ClientRequest): Promise<ReceiverResponse> {
  return new Promise((resolve, reject) => {
    sent.once("response", (response) => resolve(readResponse(response)));
    // Without a limit, a receiver could send 1xx responses until the time is over.
    sent.on("information", () => {
      if (sent.socket!.bytesRead > headBytesMax) sent.destroy(headTooLong());
    });
    // The listener stays, because an error without one would end the process.
    sent.on("error", reject);
    sent.once("close", () => reject(new AttemptFailure("connection closed")));
  });
}

/**
 * Reads the beginning of a body. The status counts even if the body never ends, is malformed or is cut
 * off, because the receiver has decided by then.
 */
async function readResponse(response: IncomingMessage) {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes >= bodyBytesMax) break;
    }
  } catch {
    // What has arrived is enough.
  }
  const text = toText(Buffer.concat(parts).subarray(0, answerBytesMax));
  return { status: response.statusCode!, retryAfter: response.headers["retry-after"], text };
}

/**
 * Decodes at most `answerBytesMax` bytes to text of at most as many bytes. Invalid UTF-8 becomes U+FFFD,
 * which is longer than one byte. So does NUL, because PostgreSQL cannot store it. A character that is
 * cut off at the end is left out.
 */
function toText(bytes: Buffer): string {
  const isCut = bytes.length === answerBytesMax;
  const text = new TextDecoder().decode(bytes, { stream: isCut }).replaceAll("\0", "\ufffd");
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(answerBytesMax));
  return text.slice(0, read);
}
