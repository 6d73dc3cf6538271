import { checkAgainstContract } from "../contract/response-check.ts";
import type { TestResponse } from "../service.ts";
import { connectRaw } from "../socket.ts";

/**
 * When a client gives up. `sent`: right after it has sent the request. `soon`: a few milliseconds
 * later, unless the response is there. `answered`: when the response begins, without reading it.
 */
export const cuts = ["sent", "soon", "answered"] as const;
export type Cut = (typeof cuts)[number];

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** A client of an instance that hangs gives up after this time. Otherwise no client may be left to write. */
const patienceMs = 10_000;

/** Sends one request on its own connection. Returns undefined if the client saw no response. */
export async function sendOnce(
  baseUrl: string,
  request: SentRequest,
  cut?: Cut,
): Promise<TestResponse | undefined> {
  const client = await connectRaw(baseUrl).catch(() => undefined);
  if (!client) return undefined;
  const { method, path, body = "" } = request;
  const { pathname, host } = new URL(baseUrl + path);
  const headers = { Host: host, "Content-Length": Buffer.byteLength(body), ...request.headers };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  client.send(`${[`${method} ${pathname} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n${body}`);
  try {
    if (cut === "sent") {
      // One turn of the event loop, in which the request leaves this process.
      await Bun.sleep(0);
      return undefined;
    }
    const answer = client.answer();
    answer.catch(() => {});
    const late = Bun.sleep(cut === "soon" ? 6 * Math.random() : patienceMs);
    const response = await Promise.race([answer, late]).catch(() => undefined);
    if (!response || cut === "answered") return undefined;
    checkAgainstContract({ method, pathname, ...response });
    return response;
  } finally {
    client.abort();
  }
}
