import { connect, createServer, type Server, type Socket } from "node:net";

/** How to lose a response. */
export interface Cut {
  /** How many bytes of the response pass first. A negative number is counted from its end. */
  readonly bytes: number;
  /** Runs when the service has responded, before the connection is cut. */
  readonly meanwhile?: (() => unknown) | undefined;
  /** Keeps the connection open, so that the response never ends. */
  readonly isHeld?: boolean;
}

/** A TCP proxy in front of the service. It passes requests on and loses responses as told. */
export class CuttingProxy {
  readonly baseUrl: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  readonly #cuts: Cut[];
  readonly #target: { port: number };

  private constructor(
    baseUrl: string,
    server: Server,
    sockets: Set<Socket>,
    cuts: Cut[],
    target: { port: number },
  ) {
    this.baseUrl = baseUrl;
    this.#server = server;
    this.#sockets = sockets;
    this.#cuts = cuts;
    this.#target = target;
  }

  static async start(serviceUrl: string): Promise<CuttingProxy> {
    const { hostname, port, pathname } = new URL(serviceUrl);
    const target = { port: Number(port) };
    const sockets = new Set<Socket>();
    const cuts: Cut[] = [];
    const server = createServer((client) => {
      const service = connect(target.port, hostname);
      client.pipe(service);
      service.on("data", (chunk: Buffer) => pass(chunk, client, cuts.shift()));
      for (const [socket, other] of [
        [client, service],
        [service, client],
      ] as const) {
        sockets.add(socket);
        // The event "close" follows.
        socket.on("error", () => {});
        socket.on("close", () => {
          sockets.delete(socket);
          other.destroy();
        });
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address() as { port: number };
    const baseUrl = `http://127.0.0.1:${address.port}${pathname}`;
    return new CuttingProxy(baseUrl, server, sockets, cuts, target);
  }

  /** Loses the next response. */
  cutNext(cut: Cut): void {
    this.#cuts.push(cut);
  }

  /** Cuts all connections. Later ones lead to another service on the same host. */
  switchTo(serviceUrl: string): void {
    this.#target.port = Number(new URL(serviceUrl).port);
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The number of cuts that did not happen yet. */
  get cutsLeft(): number {
    return this.#cuts.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function pass(chunk: Buffer, client: Socket, cut: Cut | undefined): Promise<void> {
  if (cut === undefined) {
    client.write(chunk);
    return;
  }
  client.write(chunk.subarray(0, cut.bytes));
  await cut.meanwhile?.();
  if (cut.isHeld !== true) client.destroySoon();
}
