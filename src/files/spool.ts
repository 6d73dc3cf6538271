import { randomUUID } from "node:crypto";
import { open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServiceError, unavailable } from "../domain/running/errors.ts";
import { isFileError, reasonOf } from "../file-errors.ts";

const chunkBytes = 65_536;

/**
 * Keeps bytes that can be read only once, such as those of a pipe, in a file, to be read several times. The
 * file has no name, so it is gone when this process ends, however it ends.
 */
export async function spool(bytes: AsyncIterable<Uint8Array>) {
  const path = join(tmpdir(), `petstore-${randomUUID()}`);
  try {
    await using opened = new AsyncDisposableStack();
    const file = await open(path, "wx+", 0o600);
    opened.defer(() => file.close());
    await unlink(path);
    let length = 0;
    for await (const chunk of bytes) {
      // Writing at a position leaves the file's own position at the first byte.
      for (let from = 0; from < chunk.length; ) {
        const { bytesWritten } = await file.write(chunk, from, chunk.length - from, length);
        from += bytesWritten;
        length += bytesWritten;
      }
    }
    const kept = opened.move();
    return {
      /** The descriptor of the file. A process that inherits it reads from the first byte. */
      descriptor: file.fd,
      async *read(): AsyncGenerator<Uint8Array> {
        for (let at = 0; ; ) {
          const buffer = new Uint8Array(chunkBytes);
          const { bytesRead } = await file.read(buffer, 0, chunkBytes, at);
          if (bytesRead === 0) return;
          yield buffer.subarray(0, bytesRead);
          at += bytesRead;
        }
      },
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    };
  } catch (error) {
    if (!isFileError(error)) throw error;
    throw new ServiceError("unavailable", `cannot write ${path}: ${reasonOf(error)}`);
  }
}

/** The same bytes. Throws when the service stops, even if no more of them arrive. */
export async function* untilStopped(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const chunks = bytes[Symbol.asyncIterator]();
  for (;;) {
    const next = await unlessStopped(chunks.next(), signal);
    if (next.done) return;
    yield next.value;
  }
}

/**
 * The same result. Rejects when the service stops. The listener ends with the work: the signal lives as
 * long as the service, and would keep every chunk in memory.
 */
function unlessStopped<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const stop = () => reject(unavailable("stopping"));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  return promise;
}
