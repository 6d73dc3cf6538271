import type { Socket } from "node:net";
import { InvalidField } from "../domain/running/errors.ts";
import type { Network } from "../domain/values/networks.ts";
import type { WebhookRequest, WebhookSender } from "../domain/webhooks/sender.ts";
import { isAllowed } from "./addresses.ts";
import { connectToReceiver, type Lookup, resolveReceiver, systemLookup } from "./connection.ts";
import { startDeadline, untilAborted } from "./deadlines.ts";
import { AttemptFailure, explainFailure } from "./failures.ts";
import { createResponseReader, parseRetryAfter, type ReceiverResponse } from "./responses.ts";
import { parseReceiverUrl, type ReceiverUrl } from "./urls.ts";

export interface WebhookSenderOptions {
  /** Whether `http://` is allowed. */
  readonly allowInsecure: boolean;
  /** Networks that are allowed although they are not public. */
  readonly allowedNetworks: readonly Network[];
  readonly lookup?: Lookup;
  /** For a whole attempt, from name resolution to the end of the response. */
  readonly timeoutMs?: number;
  /** Certificates of authorities, in PEM, instead of those that the runtime knows. */
  readonly ca?: string;
  readonly now?: () => number;
}

/**
 * Creates a sender that opens its own connections. `fetch` resolves the host again after any check,
 * so a name server could give it another address than the one that was checked.
 */
export function createWebhookSender({
  allowInsecure,
  allowedNetworks,
  lookup = systemLookup,
  timeoutMs = 15_000,
  ca,
  now = Date.now,
}: WebhookSenderOptions): WebhookSender {
  /** Resolves the host once. One forbidden address is enough to contact none of them. */
  async function resolve(url: ReceiverUrl, signal: AbortSignal) {
    const addresses = await resolveReceiver(url, lookup, signal);
    const forbidden = addresses.find((address) => !isAllowed(address, allowedNetworks));
    return { addresses, forbidden };
  }

  async function exchange(
    request: WebhookRequest,
    url: ReceiverUrl,
    endsAt: number,
    signal: AbortSignal,
  ): Promise<ReceiverResponse> {
    const { addresses, forbidden } = await resolve(url, signal);
    if (forbidden !== undefined) throw new AttemptFailure(`${forbidden} is not a public address`);
    const leftMs = () => Math.max(1, endsAt - performance.now());
    const socket = await connectToReceiver(url, addresses, { ca, leftMs }, signal);
    return sendOn(socket, formatRequest(url, request), signal);
  }

  return {
    async checkUrl(text) {
      const url = parseReceiverUrl(text, allowInsecure);
      const deadline = startDeadline(timeoutMs, "the host does not resolve");
      // Name servers that do not answer now may answer later.
      const { addresses, forbidden } = await resolve(url, deadline.signal)
        .catch(() => ({ addresses: [], forbidden: undefined }))
        .finally(deadline.end);
      if (forbidden !== undefined) {
        throw new InvalidField(
          "url",
          `leads to ${forbidden}, which is not a public address and not in --webhooks-allowed-networks`,
        );
      }
      return addresses.length > 0;
    },

    async send(request, signal) {
      const startedAt = performance.now();
      const message = `no response within ${timeoutMs / 1_000} s`;
      const deadline = startDeadline(timeoutMs, message, signal);
      const durationMs = () => Math.round(performance.now() - startedAt);
      let host = "";
      try {
        const url = parseReceiverUrl(request.url, allowInsecure);
        host = url.host;
        const response = await exchange(request, url, startedAt + timeoutMs, deadline.signal);
        const { status, text } = response;
        const retryAfterMs = parseRetryAfter(response.retryAfter, now());
        return { status, error: null, retryAfterMs, durationMs: durationMs(), text };
      } catch (failure) {
        const isRule = failure instanceof InvalidField;
        const error = isRule ? `the URL ${failure.rule}` : explainFailure(failure, host);
        return { status: null, error, retryAfterMs: null, durationMs: durationMs(), text: "" };
      } finally {
        deadline.end();
      }
    },
  };
}

function formatRequest({ authority, target }: ReceiverUrl, request: WebhookRequest): string {
  const headers = {
    host: authority,
    ...request.headers,
    "content-length": Buffer.byteLength(request.body),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${target} HTTP/1.1\r\n${lines.join("")}\r\n${request.body}`;
}

/** Sends the request, reads the response, and closes the connection. */
async function sendOn(
  socket: Socket,
  message: string,
  signal: AbortSignal,
): Promise<ReceiverResponse> {
  const reader = createResponseReader();
  try {
    await untilAborted<void>(signal, (resolve, reject) => {
      socket.on("data", (bytes: Buffer) => {
        try {
          if (reader.push(bytes)) resolve();
        } catch (error) {
          reject(error);
        }
      });
      socket.on("end", resolve);
      socket.on("close", resolve);
      socket.on("error", reject);
      socket.write(message);
      return () => {};
    });
  } catch (error) {
    if (!reader.response()) throw error;
  } finally {
    // Also if the attempt was cancelled just after the connection was made.
    socket.destroy();
  }
  const response = reader.response();
  if (!response) throw new AttemptFailure("the connection closed before a response");
  return response;
}
