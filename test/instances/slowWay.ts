import type { Socket } from "bun";

/** A way to a server whose answers arrive late, as over a distance. */
export interface SlowWay {
  readonly port: number;
  close(): void;
}

interface Traveller {
  server: Socket<{ client: Socket<Traveller> }> | undefined;
  /** What the client said before there was a connection to the server. */
  readonly early: Uint8Array[];
}

/**
 * Answers of the server on this port are held back, each for up to so long, in their order. When
 * the server goes, what was held back goes with it: commits that nobody hears of.
 */
export function openSlowWay(serverPort: number, delayMsMax: number): SlowWay {
  const listener = Bun.listen<Traveller>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async open(client) {
        client.data = { server: undefined, early: [] };
        try {
          client.data.server = await connect(client, serverPort, delayMsMax);
          for (const chunk of client.data.early) client.data.server.write(chunk);
        } catch {
          client.terminate();
        }
      },
      data(client, chunk) {
        if (client.data.server) client.data.server.write(chunk);
        else client.data.early.push(Uint8Array.from(chunk));
      },
      close: (client) => void client.data.server?.terminate(),
    },
  });
  return { port: listener.port, close: () => listener.stop(true) };
}

function connect(client: Socket<Traveller>, port: number, delayMsMax: number) {
  let line = Promise.resolve();
  return Bun.connect<{ client: Socket<Traveller> }>({
    hostname: "127.0.0.1",
    port,
    data: { client },
    socket: {
      data(server, chunk) {
        const copy = Uint8Array.from(chunk);
        const travel = Bun.sleep(delayMsMax * Math.random());
        // Never before what was sent earlier.
        line = line.then(() => travel).then(() => void server.data.client.write(copy));
      },
      close: (server) => void server.data.client.terminate(),
      error: (server) => void server.data.client.terminate(),
    },
  });
}
