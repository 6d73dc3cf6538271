import { lookup as lookUp } from "node:dns/promises";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectSecure, type TLSSocket } from "node:tls";
import { isSameAddress } from "./addresses.ts";
import { startDeadline, untilAborted } from "./deadlines.ts";
import { AttemptFailure } from "./failures.ts";
import type { ReceiverUrl } from "./urls.ts";

/** Returns all addresses of a host. Throws, or returns none, if it does not resolve. */
export type Lookup = (host: string) => Promise<readonly string[]>;

export const systemLookup: Lookup = async (host) =>
  (await lookUp(host, { all: true, order: "verbatim" })).map(({ address }) => address);

/** Returns the addresses of a receiver, in the order of the resolver. Empty if it does not resolve. */
export async function resolveReceiver(
  { host, isLiteral }: ReceiverUrl,
  lookup: Lookup,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (isLiteral) return [host];
  return untilAborted(signal, (resolve) => {
    // Systems have many codes for a failed lookup. After any of them, a later attempt may succeed.
    lookup(host).then(resolve, () => resolve([]));
    return () => {};
  });
}

/** More addresses would leave too little time for each. */
const addressesTriedMax = 4;

/**
 * Connects to the first of these addresses that accepts, and to no other. Each gets an equal share of
 * the time that is left, so that one that does not respond leaves time for the next.
 */
export async function connectToReceiver(
  url: ReceiverUrl,
  addresses: readonly string[],
  { ca, leftMs }: { readonly ca?: string | undefined; readonly leftMs: () => number },
  signal: AbortSignal,
): Promise<Socket> {
  const tried = addresses.slice(0, addressesTriedMax);
  for (const [index, address] of tried.entries()) {
    const others = tried.length - index - 1;
    const message = `no connection to ${address} in time`;
    const share = startDeadline(leftMs() / (others + 1), message, signal);
    try {
      // The last one has until the end of the attempt.
      return await connect(url, address, ca, others === 0 ? signal : share.signal);
    } catch (error) {
      if (others === 0 || signal.aborted) throw error;
    } finally {
      share.end();
    }
  }
  throw new AttemptFailure("the host does not resolve");
}

function connect(
  url: ReceiverUrl,
  address: string,
  ca: string | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  return untilAborted(signal, (resolve, reject) => {
    const socket = url.isSecure ? openSecure(url, address, ca) : openPlain(url, address);
    let isUsed = false;
    socket.once(url.isSecure ? "secureConnect" : "connect", () => {
      const problem = signal.aborted ? signal.reason : findProblem(socket, url, address);
      if (problem) return reject(problem);
      isUsed = true;
      resolve(socket);
    });
    // The listener stays, because an error of a socket without one would end the process.
    socket.on("error", reject);
    socket.once("close", () => reject(new AttemptFailure("connection closed")));
    return () => {
      if (!isUsed) socket.destroy();
    };
  });
}

function openPlain({ port }: ReceiverUrl, address: string): Socket {
  return connectPlain({ host: address, port });
}

/** The certificate is checked for the name in the URL, although the connection goes to an address. */
function openSecure(
  { host, isLiteral, port }: ReceiverUrl,
  address: string,
  ca: string | undefined,
): TLSSocket {
  return connectSecure({
    host: address,
    port,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 changes the default.
    rejectUnauthorized: true,
    // SNI cannot contain an address. Its certificate is checked for `host`.
    ...(isLiteral ? {} : { servername: host }),
    ...(ca === undefined ? {} : { ca }),
  });
}

/** Checks address and certificate again, before anything is sent. The runtime should have done so. */
function findProblem(socket: Socket, url: ReceiverUrl, address: string) {
  if (!isSameAddress(socket.remoteAddress ?? "", address)) {
    return new AttemptFailure(`the connection does not lead to ${address}`);
  }
  if (url.isSecure && !(socket as TLSSocket).authorized) {
    return new AttemptFailure(`the certificate is not valid for ${url.host}`);
  }
  return undefined;
}
