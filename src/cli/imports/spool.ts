import { randomUUID } from "node:crypto";
import { open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServiceError } from "../../domain/errors.ts";
import { isFileError, reasonOf } from "../../file-errors.ts";
import type { Bytes } from "./text.ts";

/** Bytes that can be read several times. */
export interface Spool extends AsyncDisposable {
  read(): Bytes;
}

const chunkBytes = 65_536;

/**
 * Keeps the bytes of a pipe, which can be read only once, in a file. The file has no name, so it is
 * gone when this process ends, however it ends.
 */
export async function spool(bytes: Bytes): Promise<Spool> {
  const path = join(tmpdir(), `petstore-${randomUUID()}`);
  try {
    const file = await open(path, "wx+", 0o600);
    await unlink(path);
    for await (const chunk of bytes) await file.write(chunk);
    return {
      async *read() {
        for (let at = 0; ; ) {
          const buffer = new Uint8Array(chunkBytes);
          const { bytesRead } = await file.read(buffer, 0, chunkBytes, at);
          if (bytesRead === 0) return;
          yield buffer.subarray(0, bytesRead);
          at += bytesRead;
        }
      },
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    if (!isFileError(error)) throw error;
    throw new ServiceError("unavailable", `cannot write ${path}: ${reasonOf(error)}`);
  }
}
