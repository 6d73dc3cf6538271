import type { Socket } from "bun";

/** A way to a server whose answers arrive late, as over a distance. */
export interface SlowWay {
  readonly port: number;
  /** Sends new connections to another server. Open ones stay where they are. */
  redirect(serverPort: number): void;
  /** Ends every connection, and with them the answers under way. */
  cut(): void;
  close(): void;
}

interface Traveller {
  server: Socket<{ client: Socket<Traveller> }> | undefined;
  /** What the client said before there was a connection to the server. */
  readonly early: Uint8Array[];
}

/** Any time up to this. */
export const upTo = (ms: number) => () => ms * Math.random();

/**
 * Answers of the server on this port are held back, each for so long, in their order. When the
 * server goes, what was held back goes with it: commits that nobody hears of.
 */
export function openSlowWay(serverPort: number, delayMs: () => number): SlowWay {
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
        // Never before what was sent earlier.
        line = line.then(() => travel).then(() => void server.data.client.write(copy));
      },
      close: (server) => void server.data.client.terminate(),
      error: (server) => void server.data.client.terminate(),
    },
  });
}
