import { yieldToEventLoop } from "../../domain/running/background.ts";
import type { ListVersion } from "./list.ts";
import type { ListReader, Readers } from "./readers.ts";

/**
 * Turns a version of the list into a response body.
 *
 * A Blob is the cheapest body: Bun sends its bytes without a copy, and responses share it. But it
 * has to be joined from the chunks, and nothing shows when its last reader has finished. A stream of
 * chunks costs at least a fifth more to send and nothing to make. Its readers share the chunks, and
 * it is known when each has finished.
 *
 * A short list is always a Blob: joining takes microseconds, and the kernel's socket buffers take
 * all of it. A long list is streamed on its first read and becomes a Blob on its second, but only if
 * every reader of the previous Blob must have finished by now. Connections that take less than
 * `slowestBytesPerMs` are silent for longer than the idle timeout and are closed. So any number of
 * slow readers holds one old Blob, and chunks, which are counted.
 *
 * A very long list is always streamed, because joining it would block the event loop for too long.
 */
export type ListBodies = ReturnType<typeof createListBodies>;

const shortBytesMax = 1024 * 1024;
/** Joining takes about 0.6 ms per MB. */
const joinedBytesMax = 16 * 1024 * 1024;
const slowestBytesPerMs = 100;
/** Bytes that one response writes in one turn of the event loop: a quarter of a millisecond. */
const turnBytesMax = 1024 * 1024;

/** The time after which the last reader of a Blob of this length must have finished. */
export function readersGoneAfterMs(byteLength: number): number {
  return byteLength <= shortBytesMax ? 0 : byteLength / slowestBytesPerMs;
}

export function createListBodies(readers: Readers, monotonicMs: () => number) {
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
    longBlobAllowedAt = now + readersGoneAfterMs(version.byteLength);
    return true;
  }

  return {
    /** The body of one response to a request of this key. */
    bodyOf(version: ListVersion, request: Request, keyId: string) {
      if (version.blob) return version.blob;
      if (!isWorthJoining(version)) return stream(readers.begin(version, keyId), request.signal);
      version.blob = new Blob(version.chunks.map((chunk) => chunk.bytes));
      return version.blob;
    },
  };
}

function stream(reader: ListReader, signal: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: "direct",
    async pull(controller: ReadableStreamDirectController) {
      try {
        await send(reader, controller, signal);
        // Makes Bun reset the connection, and print nothing because there is no reason. After a
        // normal end the client would take a part of the list for the whole.
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
  // When a client disconnects, its pending write resolves as if it had succeeded. Only the signal
  // shows the difference.
  for (let chunk = reader.next(); chunk && !signal.aborted; chunk = reader.next()) {
    // write() returns a promise if the client does not keep up.
    const written: unknown = controller.write(chunk.bytes);
    turnBytes += chunk.bytes.length;
    if (written instanceof Promise || turnBytes >= turnBytesMax) {
      await (written instanceof Promise ? reader.waitFor(written) : yieldToEventLoop());
      turnBytes = 0;
    }
    reader.sent();
  }
}
