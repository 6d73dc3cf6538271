// One stream of the feed on a raw socket. It checks that every row arrives once and in order, at a
// cost that leaves the processor to the service.
import type { Delays } from "./delays.ts";
import { getRequest, type Target } from "./scripts.ts";
import type { SharedStream } from "./shared-stream.ts";

/** A chunk below this size is a heartbeat. A change takes more bytes, a chunk of changes more still. */
const heartbeatBytesMax = 160;

export interface ListenerGroup {
  /** The stream that begins after this row. Throws if the others began after another one. */
  streamFrom(startSeq: number): SharedStream;
  /** Of every row that a listener receives. */
  readonly delays: Delays;
}

export class Listener {
  readonly #group: ListenerGroup;
  readonly #opened = Promise.withResolvers<void>();
  #socket: Bun.Socket | undefined;
  #failure: Error | undefined;
  #isClosing = false;
  /** The head of the response, the start of a chunk or a heartbeat, as far as it was received. */
  #text = "";
  #hasHead = false;
  /** Bytes of the current chunk that are missing; with the line break that follows it. */
  #left = 0;
  #isHeartbeat = false;
  #stream: SharedStream | undefined;
  #offset = 0;
  #events = 0;
  #heartbeats = 0;

  constructor(group: ListenerGroup) {
    this.#group = group;
    this.#opened.promise.catch(() => {});
  }

  /** Resolves once the first event has arrived. */
  async open(target: Target): Promise<void> {
    const request = getRequest(target, "/v1/changes");
    this.#socket = await Bun.connect({
      hostname: target.host,
      port: target.port,
      socket: {
        open: (socket) => {
          socket.write(request.replace("\r\n\r\n", "\r\nAccept: text/event-stream\r\n\r\n"));
        },
        data: (_socket, bytes) => {
          try {
            this.#receive(bytes);
          } catch (error) {
            this.#fail(error as Error);
          }
        },
        close: () => this.#fail(new Error("The server closed a stream.")),
        error: (_socket, error) => this.#fail(error),
      },
    });
    await this.#opened.promise;
  }

  get events(): number {
    return this.#events;
  }

  get heartbeats(): number {
    return this.#heartbeats;
  }

  /** The last row that was received. */
  get seq(): number {
    if (this.#failure) throw this.#failure;
    return (this.#stream?.startSeq ?? 0) + this.#events;
  }

  get offset(): number {
    return this.#offset;
  }

  close(): void {
    this.#isClosing = true;
    this.#socket?.terminate();
  }

  #fail(error: Error): void {
    if (this.#isClosing) return;
    this.#failure ??= error;
    this.#opened.reject(error);
  }

  #receive(bytes: Buffer): void {
    let at = this.#hasHead ? 0 : this.#readHead(bytes);
    while (at < bytes.length) {
      if (this.#left === 0) {
        at = this.#readChunkSize(bytes, at);
        continue;
      }
      const end = Math.min(bytes.length, at + this.#left);
      this.#left -= end - at;
      // The two bytes after a chunk are a line break.
      const used = Math.min(end, end + this.#left - 2);
      if (used > at) this.#readChunk(bytes.subarray(at, used));
      at = end;
    }
  }

  #readHead(bytes: Buffer): number {
    const before = this.#text.length;
    this.#text += bytes.toString("latin1");
    const end = this.#text.indexOf("\r\n\r\n");
    if (end < 0) return bytes.length;
    if (!this.#text.startsWith("HTTP/1.1 200 ")) throw new Error(`Not a 200: ${this.#text}`);
    this.#text = "";
    this.#hasHead = true;
    return end + 4 - before;
  }

  #readChunkSize(bytes: Buffer, from: number): number {
    const end = bytes.indexOf(10, from);
    const to = end < 0 ? bytes.length : end + 1;
    this.#text += bytes.toString("latin1", from, to);
    if (end < 0) return to;
    const size = Number.parseInt(this.#text, 16);
    if (!(size > 0)) throw new Error(`The server ended a stream: ${this.#text}`);
    this.#text = "";
    this.#left = size + 2;
    this.#isHeartbeat = size <= heartbeatBytesMax;
    return to;
  }

  #readChunk(bytes: Buffer): void {
    if (this.#isHeartbeat) {
      this.#text += bytes.toString("latin1");
      if (this.#left > 2) return;
      this.#readHeartbeat(this.#text);
      this.#text = "";
      return;
    }
    this.#stream!.receive(this.#offset, bytes);
    this.#offset += bytes.length;
    this.#events = this.#stream!.countEvents(this.#events, this.#offset, this.#group.delays);
  }

  #readHeartbeat(text: string): void {
    const [, seq] =
      /^(?:retry: \d+\n\n)?id: .*\nevent: heartbeat\ndata: \{"seq":(\d+)\}\n\n$/.exec(text) ?? [];
    if (seq === undefined) throw new Error(`Expected a heartbeat, received ${text}`);
    if (this.#stream) {
      this.#heartbeats += 1;
      if (Number(seq) !== this.seq) throw new Error(`After row ${this.seq}, received ${text}`);
      return;
    }
    this.#stream = this.#group.streamFrom(Number(seq));
    this.#opened.resolve();
  }
}
