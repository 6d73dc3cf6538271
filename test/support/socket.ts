import { connect, type Socket, type TcpNetConnectOpts } from "node:net";
import { connect as connectTls, TLSSocket } from "node:tls";
import type { TestResponse } from "./service.ts";

/** A client that sends raw bytes, for requests that no HTTP library sends. */
export interface RawClient {
  send(bytes: string | Uint8Array): void;
  /** The next response. `noBody` for responses to HEAD, which have a length and no body. */
  answer(noBody?: "noBody"): Promise<TestResponse>;
  /** Resolves with the unread bytes once the server has closed the connection. */
  closed(): Promise<string>;
  /** Stops reading, until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes the sending side. Reading continues. */
  end(): void;
  /** Resets the connection. */
  abort(): void;
  /** The common name in the server's certificate. */
  readonly certificateName: string | undefined;
}

/**
 * Uses TLS if the address does, and accepts any certificate then. `end` names the client's own address and
 * port.
 */
export async function connectRaw(
  baseUrl: string,
  end: Pick<TcpNetConnectOpts, "localAddress" | "localPort"> = {},
): Promise<RawClient> {
  const { hostname, port, protocol } = new URL(baseUrl);
  let received = Buffer.alloc(0);
  let isClosed = false;
  let wake = () => {};
  const socket = await new Promise<Socket>((resolve, reject) => {
    const options = { ...end, port: Number(port), host: hostname, rejectUnauthorized: false };
    const opening: Socket =
      protocol === "https:"
        ? connectTls(options, () => resolve(opening))
        : connect(options, () => resolve(opening));
    opening.once("error", reject);
  });
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  // A server may close by a reset. The event "close" follows in any case.
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
    wake();
  });

  /** Waits until `read` returns a value for the bytes received so far. */
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
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.end(),
    abort: () => void socket.resetAndDestroy(),
    certificateName:
      socket instanceof TLSSocket ? String(socket.getPeerCertificate().subject.CN) : undefined,
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
  const answer: TestResponse = { status, headers, text, json };
  return { answer, byteLength };
}
