import type { Socket } from "bun";

/** A proxy to a server whose responses arrive late, as over a distance. */
export interface SlowProxy {
  readonly port: number;
  /** Sends new connections to another server. Open ones stay where they are. */
  redirect(serverPort: number): void;
  /** Closes every connection, and drops the responses that were not delivered. */
  cut(): void;
  close(): void;
}

interface Traveller {
  server: Socket<{ client: Socket<Traveller> }> | undefined;
  /** What the client sent before there was a connection to the server. */
  readonly early: Uint8Array[];
}

/** A random time up to this. */
export const upTo = (ms: number) => () => ms * Math.random();

/**
 * Delays each response of the server on this port, in order. When the server ends, the delayed
 * responses are lost: commits without an acknowledgement.
 */
export function openSlowProxy(serverPort: number, delayMs: () => number): SlowProxy {
  const clients = new Set<Socket<Traveller>>();
  let target = serverPort;
  const listener = Bun.listen<Traveller>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async open(client) {
        client.data = { server: undefined, early: [] };
        clients.add(client);
        try {
          client.data.server = await connect(client, target, delayMs);
          for (const chunk of client.data.early) client.data.server.write(chunk);
        } catch {
          client.terminate();
        }
      },
      data(client, chunk) {
        if (client.data.server) client.data.server.write(chunk);
        else client.data.early.push(Uint8Array.from(chunk));
      },
      close(client) {
        clients.delete(client);
        client.data.server?.terminate();
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
    close: () => listener.stop(true),
  };
}

function connect(client: Socket<Traveller>, port: number, delayMs: () => number) {
  let line = Promise.resolve();
  return Bun.connect<{ client: Socket<Traveller> }>({
    hostname: "127.0.0.1",
    port,
    data: { client },
    socket: {
      data(server, chunk) {
        const copy = Uint8Array.from(chunk);
        const travel = Bun.sleep(delayMs());
        // Never before an earlier response.
        line = line.then(() => travel).then(() => void server.data.client.write(copy));
      },
      close: (server) => void server.data.client.terminate(),
      error: (server) => void server.data.client.terminate(),
    },
  });
}
