import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that arrived in full. */
export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly seqs: readonly number[];
}

/** How a receiver treats one request. */
export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

export const confirm: Behaviour = (response) => void response.writeHead(204).end();

/** Answers with a status and headers. */
export const answer =
  (status: number, headers: Record<string, string> = {}, body = ""): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end(body);

/** Sends a body until the connection is closed. */
export const answerEndlessly =
  (status: number): Behaviour =>
  (response) => {
    response.writeHead(status).on("error", () => {});
    const send = () => void (response.destroyed || response.write("x".repeat(16_384), send));
    send();
  };

/** A real HTTP server on the loopback address that records what it gets. */
export interface Receiver {
  readonly url: string;
  /** Every request, also those that were not confirmed. */
  readonly received: readonly Received[];
  /** The changes of the requests that were answered with a whole 2xx response, in order. */
  readonly confirmed: readonly number[];
  /** Treats every request so from now on. */
  behave(behaviour: Behaviour): void;
  /** Treats the next requests so, one each, and later ones as before. */
  behaveOnce(...behaviours: readonly Behaviour[]): void;
  /** Closes the port and all connections. */
  stop(): Promise<void>;
  /** Opens the same port again. */
  start(): Promise<void>;
}

export async function startReceiver(initial: Behaviour = confirm): Promise<Receiver> {
  let behaviour = initial;
  let next: Behaviour[] = [];
  let port = 0;
  const received: Received[] = [];
  const confirmed: number[] = [];

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const headers = request.headers as Record<string, string>;
    const { changes } = (JSON.parse(body) as { data: { changes: { seq: number }[] } }).data;
    const seqs = changes.map(({ seq }) => seq);
    received.push({ headers, body, seqs });
    response.on("finish", () => {
      if (response.statusCode >= 200 && response.statusCode <= 299) confirmed.push(...seqs);
    });
    (next.shift() ?? behaviour)(response, request);
  });
  const start = () => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await start();
  port = (server.address() as AddressInfo).port;

  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    confirmed,
    behave(one) {
      behaviour = one;
    },
    behaveOnce(...behaviours) {
      next = [...next, ...behaviours];
    },
    start,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
