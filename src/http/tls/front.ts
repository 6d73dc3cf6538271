import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import type { Certificate } from "./certificate.ts";

export interface TlsFrontOptions {
  readonly host: string;
  readonly port: number;
  readonly idleTimeoutSeconds: number;
  /** The port of the HTTP server, on this machine only. */
  readonly innerPort: number;
}

export type TlsFront = Awaited<ReturnType<typeof startTlsFront>>;

export const innerHost = "127.0.0.1";

/**
 * Mozilla's intermediate list for TLS 1.2: forward secrecy and authenticated encryption. Bun has no DHE,
 * which the list also allows. TLS 1.3 has only such suites.
 */
const ciphers = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

const tlsOptions = { minVersion: "TLSv1.2", ciphers, ALPNProtocols: ["http/1.1"] } as const;

/**
 * Listens for TLS connections and passes the bytes between each of them and a connection to the HTTP
 * server. Bun's HTTP server cannot change its certificate, and a listener of `node:tls` can. See
 * docs/decisions/0029-reloading-certificates.md.
 */
export async function startTlsFront(
  certificate: Certificate,
  { host, port, idleTimeoutSeconds, innerPort }: TlsFrontOptions,
) {
  const idleTimeoutMs = idleTimeoutSeconds * 1_000;
  const clients = new Set<TLSSocket>();
  /** The addresses of clients, by the ports of our ends, all of which are on `innerHost`. */
  const addresses = new Map<number, string>();

  function accept(client: TLSSocket): void {
    clients.add(client);
    const inner = connect({ host: innerHost, port: innerPort, noDelay: true });
    let ownPort: number | undefined;
    inner.once("connect", () => {
      ownPort = inner.localPort;
      // Before the first byte of a request reaches the HTTP server, which asks for it.
      if (ownPort !== undefined) addresses.set(ownPort, client.remoteAddress ?? "unknown");
      client.pipe(inner);
      inner.pipe(client);
    });
    // An error is followed by "close".
    inner.on("error", () => {});
    client.on("error", () => {});
    client.once("close", () => {
      clients.delete(client);
      inner.destroy();
    });
    inner.once("close", () => {
      if (ownPort !== undefined) addresses.delete(ownPort);
      if (!inner.readableEnded) return client.destroy();
      // The client gets what was sent before the end, as long as it reads.
      client.setTimeout(idleTimeoutMs, () => client.destroy());
      client.destroySoon();
    });
  }

  const server = createServer(
    {
      ...certificate.text,
      ...tlsOptions,
      handshakeTimeout: idleTimeoutMs,
      noDelay: true,
      // A client that has sent its last request and closes its side still gets the response.
      allowHalfOpen: true,
    },
    accept,
  );
  // The handshake failed or took too long. Scanners cause many of these, so they are not logged.
  server.on("tlsClientError", (_error, client) => client.destroy());
  certificate.subscribe((text) => server.setSecureContext({ ...text, ...tlsOptions }));
  server.listen({ host, port });
  await once(server, "listening");
  server.on("error", () => {});

  return {
    port: (server.address() as AddressInfo).port,
    /**
     * The client whose bytes arrive from this end of a connection, the one that is not the HTTP server's.
     * Undefined if the front did not open it. The port alone does not tell: another program may have the
     * same port at another address.
     */
    findClient: (innerEnd: { readonly address: string; readonly port: number } | null) =>
      innerEnd?.address === innerHost ? addresses.get(innerEnd.port) : undefined,
    /** Accepts no more connections. Open ones continue. */
    stopListening: () => void server.close(),
    /** Closes all connections. */
    close(): void {
      for (const client of clients) client.destroy();
    },
  };
}
