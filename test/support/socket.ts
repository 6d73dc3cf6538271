import { connect, type Socket } from "node:net";
import type { TestAnswer } from "./service.ts";

/** A client that speaks bytes: for what no well-behaved HTTP library would send. */
export interface RawClient {
  send(bytes: string | Uint8Array): void;
  /** The next answer, in order; `noBody` for answers to HEAD, which say a length and send none. */
  answer(noBody?: "noBody"): Promise<TestAnswer>;
  /** Resolves, with what was left unread, once the server has closed the connection. */
  closed(): Promise<string>;
  /** Sends no more, and goes on reading. */
  end(): void;
  /** Drops the connection in the middle of whatever is going on. */
  abort(): void;
}

export async function connectRaw(baseUrl: string): Promise<RawClient> {
  const { hostname, port } = new URL(baseUrl);
  let received = Buffer.alloc(0);
  let isClosed = false;
  let wake = () => {};
  const socket = await new Promise<Socket>((resolve, reject) => {
    const opening = connect(Number(port), hostname, () => resolve(opening));
    opening.once("error", reject);
  });
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  // A reset is one of the ways a server may close; "close" follows in any case.
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
    wake();
  });

  /** Waits until `read` finds what it looks for in the bytes that have come. */
  async function until<T>(read: () => T | undefined): Promise<T> {
    for (;;) {
      const found = read();
      if (found !== undefined) return found;
      if (isClosed) throw new Error(`closed after: ${received.toString("latin1")}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  return {
    send: (bytes) => void socket.write(bytes),
    answer(noBody) {
      return until(() => {
        const parsed = parseAnswer(received, noBody !== undefined);
        if (parsed) received = received.subarray(parsed.byteLength);
        return parsed?.answer;
      });
    },
    closed: () => until(() => (isClosed ? received.toString("latin1") : undefined)),
    end: () => void socket.end(),
    abort: () => void socket.resetAndDestroy(),
  };
}

function parseAnswer(bytes: Buffer, noBody: boolean) {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const [first = "", ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  const status = Number(first.split(" ")[1]);
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const isBodiless = noBody || status === 204 || status === 304 || status < 200;
  const length = isBodiless ? 0 : Number(headers.get("Content-Length") ?? 0);
  const byteLength = headEnd + 4 + length;
  if (bytes.length < byteLength) return undefined;
  const text = bytes.subarray(headEnd + 4, byteLength).toString("utf8");
  const json: unknown = text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : undefined;
  const answer: TestAnswer = { status, headers, text, json };
  return { answer, byteLength };
}
