import { yieldToEventLoop } from "../../domain/turns.ts";
import type { ListVersion } from "./list.ts";
import type { ListReader, Readers } from "./readers.ts";

/**
 * How a version of the list becomes a response body.
 *
 * A Blob is the cheapest: Bun sends its bytes without copying them and shares it between answers.
 * But it has to be joined from the chunks, and nobody can see when its last reader is done. A
 * stream of chunks costs a fifth or more to send and nothing to make; readers that stall share the
 * chunks, and say when they are done.
 *
 * So a short list is always a Blob: joining it takes microseconds, and the kernel's socket buffers
 * swallow it whole. A long list is streamed when it is fresh and becomes a Blob on its second
 * reading, but only if every reader of the Blob before it must be gone by now: connections that
 * take less than `slowestBytesPerMs` fall silent for longer than the idle timeout and are closed.
 * So however many slow readers there are, they hold one old Blob, and chunks, which are counted.
 *
 * A very long list is always streamed. Joining it would block the event loop for too long.
 */
export interface Sender {
  /** The body of one answer to a request of this key. */
  bodyOf(version: ListVersion, request: Request, keyId: string): SentBody;
}

export type SentBody = Blob | ReadableStream<Uint8Array>;

const shortBytesMax = 1024 * 1024;
/** Joining takes about 0.6 ms per MB. */
const joinedBytesMax = 16 * 1024 * 1024;
const slowestBytesPerMs = 100;
/** Bytes that one answer writes in one turn of the event loop: a quarter of a millisecond. */
const turnBytesMax = 1024 * 1024;

/** How long until the last reader of so many bytes in one Blob must be gone. */
export function goneAfterMs(byteLength: number): number {
  return byteLength <= shortBytesMax ? 0 : byteLength / slowestBytesPerMs;
}

export function createSender(readers: Readers, monotonicMs: () => number): Sender {
  const blobs = new WeakMap<ListVersion, Blob>();
  const readBefore = new WeakSet<ListVersion>();
  let longBlobAllowedAt = 0;

  function isWorthJoining(version: ListVersion): boolean {
    if (version.byteLength <= shortBytesMax) return true;
    if (version.byteLength > joinedBytesMax) return false;
    if (!readBefore.has(version)) {
      readBefore.add(version);
      return false;
    }
    const now = monotonicMs();
    if (now < longBlobAllowedAt) return false;
    longBlobAllowedAt = now + goneAfterMs(version.byteLength);
    return true;
  }

  return {
    bodyOf(version, request, keyId) {
      const blob = blobs.get(version);
      if (blob) return blob;
      if (!isWorthJoining(version)) return stream(readers.begin(version, keyId), request.signal);
      const joined = new Blob(version.chunks.map((chunk) => chunk.bytes));
      blobs.set(version, joined);
      return joined;
    },
  };
}

function stream(reader: ListReader, signal: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: "direct",
    async pull(controller: ReadableStreamDirectController) {
      try {
        await send(reader, controller, signal);
        // Bun resets the connection, and prints nothing because no reason is given. An end would
        // make the client take half of a list for the whole.
        if (reader.isCutOff()) return await Promise.reject();
        controller.end();
      } finally {
        reader.end();
      }
    },
    cancel: () => reader.end(),
  } as unknown as UnderlyingDefaultSource<Uint8Array>);
}

async function send(
  reader: ListReader,
  controller: ReadableStreamDirectController,
  signal: AbortSignal,
): Promise<void> {
  let turnBytes = 0;
  // A reader that went away leaves its write resolved as if all were well: ask the signal.
  for (let chunk = reader.next(); chunk && !signal.aborted; chunk = reader.next()) {
    // A promise: the client does not keep up.
    const written: unknown = controller.write(chunk.bytes);
    turnBytes += chunk.bytes.length;
    if (written instanceof Promise || turnBytes >= turnBytesMax) {
      await (written instanceof Promise ? reader.waitFor(written) : yieldToEventLoop());
      turnBytes = 0;
    }
    reader.sent();
  }
}
