import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { createServer as createSecureServer, type TLSSocket, type TlsOptions } from "node:tls";

/** A server on a socket, which counts its connections. */
export interface Listener {
  readonly address: string;
  readonly port: number;
  /** Connections so far. */
  readonly connections: number;
  /** Connections that are open. */
  readonly open: number;
  /** What all connections sent, as latin1. */
  readonly received: string;
  /** The names in SNI. */
  readonly names: readonly string[];
  /** `[::1]:8080`, for a URL. */
  readonly authority: string;
  close(): Promise<void>;
}

/** Starts a listener, which calls `answer` when a request head has arrived. */
export async function startListener(
  address: string,
  answer: (socket: Socket) => void = () => {},
  tls?: TlsOptions,
): Promise<Listener> {
  const sockets = new Set<Socket>();
  const names: string[] = [];
  let connections = 0;
  let received = "";
  const serve = (socket: Socket) => {
    let head = "";
    if (tls) names.push(String((socket as TLSSocket).servername));
    socket.on("data", (bytes: Buffer) => {
      const isAnswered = head.includes("\r\n\r\n");
      head += bytes.toString("latin1");
      received += bytes.toString("latin1");
      if (!isAnswered && head.includes("\r\n\r\n")) answer(socket);
    });
    socket.on("error", () => socket.destroy());
  };
  const server: Server = tls ? createSecureServer(tls, serve) : createServer(serve);
  server.on("tlsClientError", () => {});
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, address, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    address,
    port,
    names,
    authority: `${address.includes(":") ? `[${address}]` : address}:${port}`,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    get received() {
      return received;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Addresses of this machine that a listener can use, loopback first. */
export async function listenableAddresses(): Promise<string[]> {
  const own = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => address)
    .filter((address) => !address.startsWith("fe80:"));
  const found: string[] = [];
  for (const address of new Set(["127.0.0.1", "::1", "127.0.0.2", ...own])) {
    const listener = await startListener(address).catch(() => undefined);
    if (!listener) continue;
    await listener.close();
    found.push(address);
  }
  return found;
}
