import type { Socket } from "bun";

/** A proxy to a server whose responses arrive late, as over a distance. */
export interface SlowProxy {
  readonly port: number;
  /** Sends new connections to another server. Open ones stay where they are. */
  redirect(serverPort: number): void;
  /** Closes every connection, and drops the responses that were not delivered. */
  cut(): void;
  /** The ports from which the server sees the open connections. */
  serverPorts(): number[];
  /**
   * Keeps what the clients of these connections send, as a network that loses packets does: it is
   * delivered later, also if the client has given up meanwhile. `ports` are those that the server sees;
   * all open connections unless given.
   */
  hold(ports?: readonly number[]): Held;
  /** Keeps what the server sends to the clients of all open connections. Returns what delivers it. */
  holdResponses(): () => void;
  close(): void;
}

/** Connections that are held. */
export interface Held {
  /** How much was kept so far. */
  keptBytes(): number;
  /** Resets the connections of the clients. The server does not learn of it before `release`. */
  cut(): void;
  /** Delivers what was kept, and closes the connections whose clients have gone. */
  release(): void;
  /** Closes the connections at the server, and drops what was kept. */
  drop(): void;
}

interface Traveller {
  server: Socket<{ client: Socket<Traveller> }> | undefined;
  /** What is not delivered yet: there is no connection to the server, or it is held. */
  readonly waiting: Uint8Array[];
  isHeld: boolean;
  /** Responses that are not delivered yet, because they are held. */
  readonly responses: Uint8Array[];
  isDeaf: boolean;
  isGone: boolean;
}

/** How long a response takes. */
export type DelayOf = (response: Uint8Array) => number;

/** A random time up to this. */
export const upTo = (ms: number) => () => ms * Math.random();

const portOf = ({ data }: Socket<Traveller>) => data.server?.localPort ?? 0;

/** Delivers what waits, unless the connection is held. */
function deliver({ data }: Socket<Traveller>): void {
  if (data.isHeld || !data.server) return;
  for (const chunk of data.waiting.splice(0)) data.server.write(chunk);
}

function deliverResponses(client: Socket<Traveller>): void {
  if (client.data.isDeaf) return;
  for (const chunk of client.data.responses.splice(0)) client.write(chunk);
}

/**
 * Delays each response of the server on this port, in order. When the server ends, the delayed
 * responses are lost: commits without an acknowledgement.
 */
export function openSlowProxy(serverPort: number, delayMs: DelayOf): SlowProxy {
  const clients = new Set<Socket<Traveller>>();
  let target = serverPort;
  const listener = Bun.listen<Traveller>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async open(client) {
        const nothing = { waiting: [], isHeld: false, responses: [], isDeaf: false };
        client.data = { server: undefined, ...nothing, isGone: false };
        clients.add(client);
        try {
          client.data.server = await connect(client, target, delayMs);
          deliver(client);
        } catch {
          client.terminate();
        }
      },
      data(client, chunk) {
        client.data.waiting.push(Uint8Array.from(chunk));
        deliver(client);
      },
      close(client) {
        clients.delete(client);
        client.data.isGone = true;
        if (!client.data.isHeld) client.data.server?.terminate();
      },
    },
  });
  return {
    port: listener.port,
    redirect(port) {
      target = port;
    },
    cut() {
      for (const client of clients) client.terminate();
    },
    serverPorts: () => [...clients].map(portOf),
    hold(ports) {
      const held = [...clients].filter((client) => !ports || ports.includes(portOf(client)));
      for (const { data } of held) data.isHeld = true;
      return {
        keptBytes: () =>
          held.reduce((sum, { data }) => sum + Buffer.concat(data.waiting).length, 0),
        cut() {
          for (const client of held) client.terminate();
        },
        release() {
          for (const client of held) {
            client.data.isHeld = false;
            deliver(client);
            if (client.data.isGone) client.data.server?.end();
          }
        },
        drop() {
          for (const client of held) client.data.server?.terminate();
        },
      };
    },
    holdResponses() {
      const held = [...clients];
      for (const { data } of held) data.isDeaf = true;
      return () => {
        for (const client of held) {
          client.data.isDeaf = false;
          deliverResponses(client);
        }
      };
    },
    close: () => listener.stop(true),
  };
}

function connect(client: Socket<Traveller>, port: number, delayMs: DelayOf) {
  let line = Promise.resolve();
  return Bun.connect<{ client: Socket<Traveller> }>({
    hostname: "127.0.0.1",
    port,
    data: { client },
    socket: {
      data(server, chunk) {
        const copy = Uint8Array.from(chunk);
        const travel = Bun.sleep(delayMs(copy));
        // Never before an earlier response.
        line = line
          .then(() => travel)
          .then(() => {
            server.data.client.data.responses.push(copy);
            deliverResponses(server.data.client);
          });
      },
      close: (server) => void server.data.client.terminate(),
      error: (server) => void server.data.client.terminate(),
    },
  });
}
