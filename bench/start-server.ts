// Starts a server process and waits until it is ready.
import { createServer } from "node:net";
import { type StartOptions, start, stop } from "./processes.ts";
import type { Target } from "./scripts.ts";

/** A running server that takes part in a comparison. */
export interface Contestant {
  name: string;
  pid: number;
  target: Target;
  /** Time from the start of the process until it was ready. */
  startMs: number;
  stop(): Promise<void>;
}

const readyTimeoutMs = 120_000;

/** Starts the command and waits until /readyz returns status 200. */
export async function startServer(
  name: string,
  command: string[],
  target: Target,
  options: Pick<StartOptions, "env" | "stderrFile"> = {},
): Promise<Contestant> {
  const startedAt = performance.now();
  const child = start({ ...options, command });
  let hasEnded = false;
  child.exited.then(() => {
    hasEnded = true;
  });
  while (!(await isReady(target))) {
    if (hasEnded) throw new Error(`${name} did not start: ${child.stderrTail()}`);
    if (performance.now() - startedAt > readyTimeoutMs) {
      throw new Error(`${name} is not ready after ${readyTimeoutMs / 1000} s.`);
    }
    await Bun.sleep(5);
  }
  const startMs = performance.now() - startedAt;
  return { name, pid: child.pid, target, startMs, stop: () => stop(child) };
}

async function isReady(target: Target): Promise<boolean> {
  const url = `http://${target.host}:${target.port}/readyz`;
  try {
    return (await fetch(url, { headers: authorization(target) })).status === 200;
  } catch {
    return false;
  }
}

export function authorization(target: Target): Record<string, string> {
  return { authorization: `Bearer ${target.key}`, "accept-encoding": "identity" };
}

/** Returns a port that is free now. The server opens it a moment later. */
export function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const server = createServer();
  server.once("error", reject);
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
  });
  return promise;
}
