// Clients of the feed that do not read it as they should.
import { type BareSocket, connectBare } from "./bare-sockets.ts";

export const badReaderKinds = [
  "half-closed",
  "slow",
  "never reading",
  "abandoned",
  "reset at once",
] as const;
export type BadReaderKind = (typeof badReaderKinds)[number];

export interface BadReaders {
  open(kind: BadReaderKind): void;
  leave(): void;
}

/** How often a slow reader receives a few bytes. */
const slowEveryMs = 500;
const slowBytes = 4;

/** A client that never reads gives up after this time, unless the service has closed before. */
const patienceMs = 30_000;

interface Reader {
  readonly kind: BadReaderKind;
  readonly socket: BareSocket;
  readonly openedAt: number;
}

export function createBadReaders(baseUrl: string, key: string): BadReaders {
  const readers = new Set<Reader>();
  /** Their program is gone, but nothing has closed their sockets. */
  const abandoned: BareSocket[] = [];
  const url = new URL(baseUrl);
  const request = `GET ${url.pathname}/changes HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${key}\r\nAccept: text/event-stream\r\n\r\n`;

  /** Half-closed ones read everything, slow ones a few bytes, the others nothing. */
  function readFrom({ kind, socket }: Reader): "open" | "closed" {
    if (kind === "slow") return socket.receive(slowBytes) === 0 ? "closed" : "open";
    if (kind !== "half-closed") return "open";
    for (;;) {
      const received = socket.receive(64 * 1024);
      if (received <= 0) return received === 0 ? "closed" : "open";
    }
  }

  const timer = setInterval(() => {
    for (const reader of readers) {
      const isOver = performance.now() - reader.openedAt > patienceMs;
      if (readFrom(reader) === "open" && !isOver) continue;
      readers.delete(reader);
      reader.socket.close();
    }
  }, slowEveryMs);

  return {
    open(kind) {
      const socket = connectBare(url);
      socket.send(request);
      if (kind === "reset at once") return socket.reset();
      if (kind === "abandoned") return void abandoned.push(socket);
      if (kind === "half-closed") socket.shutdown();
      readers.add({ kind, socket, openedAt: performance.now() });
    },
    leave() {
      clearInterval(timer);
      for (const { socket } of readers) socket.close();
      for (const socket of abandoned) socket.close();
      readers.clear();
    },
  };
}
