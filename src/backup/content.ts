import { pipeline } from "node:stream/promises";
import { constants, createZstdDecompress } from "node:zlib";
import { damagedBackup } from "./manifest.ts";

/** Lines are decoded in blocks of about this size. */
const blockBytes = 512 * 1024;

/** Longer than any row can be. */
const lineBytesMax = 16 * 1024 * 1024;

/** The memory for decompression: 2 to the power of this. The writer uses less. */
const windowLogMax = 23;

const lineFeed = 0x0a;

/**
 * Decompresses the content of a backup and splits it into lines, in blocks. At most one block and one
 * line are in memory. The size of all lines has no limit here: pets with long, repeated texts shrink to
 * less than a thousandth. `src/cli/backups/room.ts` keeps them from filling the disk.
 */
export async function* readLines(
  file: string,
  compressed: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;

  function decode(block: Uint8Array): string {
    try {
      return decoder.decode(block);
    } catch {
      throw damagedBackup(file, "its content is not valid UTF-8");
    }
  }

  for await (const chunk of decompress(file, compressed)) {
    pending.push(chunk);
    pendingBytes += chunk.length;
    if (pendingBytes < blockBytes) continue;
    const end = chunk.lastIndexOf(lineFeed) + 1;
    if (end === 0) {
      if (pendingBytes > lineBytesMax) throw damagedBackup(file, "its content has an endless line");
      continue;
    }
    pending[pending.length - 1] = chunk.subarray(0, end);
    yield decode(Buffer.concat(pending)).slice(0, -1).split("\n");
    pending = [chunk.subarray(end)];
    pendingBytes = chunk.length - end;
  }
  if (pendingBytes === 0) return;
  const last = decode(Buffer.concat(pending));
  if (!last.endsWith("\n")) throw damagedBackup(file, "its content is cut off");
  yield last.slice(0, -1).split("\n");
}

async function* decompress(
  file: string,
  compressed: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const { ZSTD_d_windowLogMax } = constants;
  const decompressor = createZstdDecompress({ params: { [ZSTD_d_windowLogMax]: windowLogMax } });
  let failure: unknown;
  const feeding = pipeline(compressed, decompressor).catch((error: unknown) => {
    failure = error;
  });
  try {
    yield* decompressor as AsyncIterable<Uint8Array>;
    await feeding;
  } catch (error) {
    failure ??= error;
  } finally {
    decompressor.destroy();
  }
  const code = (failure as NodeJS.ErrnoException | undefined)?.code ?? "";
  if (code.startsWith("ZSTD_")) throw damagedBackup(file, "its content cannot be decompressed");
  if (failure !== undefined) throw failure;
}
