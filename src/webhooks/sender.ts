import { lookup as lookUp } from "node:dns/promises";
import { InvalidField } from "../domain/running/errors.ts";
import type { Network } from "../domain/values/networks.ts";
import type { WebhookSender } from "../domain/webhooks/sender.ts";
import { isAllowed } from "./addresses.ts";
import { exchange } from "./exchange.ts";
import { AttemptFailure, explainFailure } from "./failures.ts";
import { parseReceiverUrl, type ReceiverUrl } from "./urls.ts";

/** Returns all addresses of a host. Throws, or returns none, if it does not resolve. */
export type Lookup = (host: string) => Promise<readonly string[]>;

const systemLookup: Lookup = async (host) =>
  (await lookUp(host, { all: true, order: "verbatim" })).map(({ address }) => address);

export interface WebhookSenderOptions {
  /** The setting: whether `http://` is allowed. */
  readonly webhooksAllowInsecure: boolean;
  /** The setting: networks that are allowed although they are not public. */
  readonly webhooksAllowedNetworks: readonly Network[];
  readonly lookup?: Lookup;
  /** For a whole attempt, from name resolution to the end of the response. */
  readonly timeoutMs?: number;
  /** Certificates of authorities, in PEM, instead of those that the runtime knows. */
  readonly ca?: string;
  readonly now?: () => number;
}

/**
 * Creates a sender that resolves the host once per attempt, and connects to the address that it has checked.
 * `fetch` would resolve the host again, and a name server could then return another address.
 */
export function createWebhookSender({
  webhooksAllowInsecure: allowInsecure,
  webhooksAllowedNetworks: allowedNetworks,
  lookup = systemLookup,
  timeoutMs = 15_000,
  ca,
  now = Date.now,
}: WebhookSenderOptions): WebhookSender {
  /**
   * Returns the addresses of a receiver, in the order of the resolver; none if it does not resolve. If one
   * address is forbidden, none of them is contacted.
   */
  async function resolve({ host, isLiteral }: ReceiverUrl, signal: AbortSignal) {
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(signal.reason));
    // Systems have many codes for a failed lookup. After any of them, a later attempt may succeed.
    const found = isLiteral ? [host] : lookup(host).catch(() => []);
    const addresses = await Promise.race([found, aborted]);
    const forbidden = addresses.find((address) => !isAllowed(address, allowedNetworks));
    return { addresses, forbidden };
  }

  /** Does work until `outer` aborts or the time of an attempt is over. */
  async function within<T>(
    outer: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    // Not AbortSignal.any: its memory is kept as long as `outer`, which lives until the service stops.
    const attempt = new AbortController();
    const end = (message: string) => attempt.abort(new AttemptFailure(message));
    const cancel = () => end("the attempt was cancelled");
    const late = setTimeout(() => end(`no response within ${timeoutMs / 1_000} s`), timeoutMs);
    outer?.addEventListener("abort", cancel);
    if (outer?.aborted) cancel();
    try {
      attempt.signal.throwIfAborted();
      return await work(attempt.signal);
    } catch (error) {
      throw attempt.signal.reason ?? error;
    } finally {
      clearTimeout(late);
      outer?.removeEventListener("abort", cancel);
    }
  }

  return {
    async checkUrl(text) {
      const url = parseReceiverUrl(text, allowInsecure);
      // Name servers that do not answer now may answer later.
      const { addresses, forbidden } = await within(undefined, (signal) =>
        resolve(url, signal),
      ).catch(() => ({ addresses: [], forbidden: undefined }));
      if (forbidden !== undefined) {
        throw new InvalidField(
          "url",
          `leads to ${forbidden}, which is not a public address and not in --webhooks-allowed-networks`,
        );
      }
      return addresses.length > 0;
    },

    async send(request, outer) {
      const startedAt = performance.now();
      const passedMs = () => performance.now() - startedAt;
      let host = "";
      try {
        const url = parseReceiverUrl(request.url, allowInsecure);
        host = url.host;
        const { status, retryAfter, text } = await within(outer, async (signal) => {
          const { addresses, forbidden } = await resolve(url, signal);
          if (forbidden !== undefined) {
            throw new AttemptFailure(`${forbidden} is not a public address`);
          }
          const leftMs = () => timeoutMs - passedMs();
          return exchange(url, addresses, request, { ca, signal, leftMs });
        });
        const retryAfterMs = parseRetryAfter(retryAfter, now());
        return { status, error: null, retryAfterMs, durationMs: Math.round(passedMs()), text };
      } catch (failure) {
        const isRule = failure instanceof InvalidField;
        const error = isRule ? `the URL ${failure.rule}` : explainFailure(failure, host);
        const durationMs = Math.round(passedMs());
        return { status: null, error, retryAfterMs: null, durationMs, text: "" };
      }
    },
  };
}

const httpDate = /^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;

/** Converts Retry-After to a duration: seconds, or a date as RFC 9110 says to send it. */
function parseRetryAfter(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  if (/^[0-9]+$/.test(text)) return Math.min(Number(text) * 1_000, Number.MAX_SAFE_INTEGER);
  const time = httpDate.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : Math.max(0, time - now);
}
