import { createServer } from "node:net";

/**
 * A free port below the range that the system uses for outgoing connections, so that no other
 * process takes it while a server is down between its stop and its next start.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const probe = createServer()
      .once("error", () => resolve(false))
      .listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    if (await promise) return port;
  }
}
