import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";
import type { Snapshot } from "../domain/verification/store.ts";
import { firstLine, format, type Manifest, manifestEnd, manifestStart } from "./manifest.ts";
import { backupTables, endLine, rowLine, tableLine } from "./rows.ts";

/** What a backup says about its origin. */
export interface Origin {
  readonly version: string;
  readonly environment: string;
  readonly engine: string;
}

/** Where the bytes of a backup go. Resolves when it can take more. */
export type Sink = (bytes: Uint8Array) => Promise<unknown>;

/**
 * Hashes take half of the space and cannot be compressed. A higher level takes several times as long
 * and saves nothing.
 */
const compressionLevel = 1;

/**
 * Writes a backup of one state of a store. `at` is a time before the first read, from which on the snapshot
 * does not change. Only a few batches of rows are in memory at a time.
 */
export async function writeBackup(
  snapshot: Snapshot,
  origin: Origin,
  at: string,
  sink: Sink,
  onRows: (count: number) => void,
): Promise<Manifest> {
  const { epoch } = await snapshot.readHead();
  const { seq, hash } = await snapshot.readTip();
  const checksum = createHash("sha256");
  const send = (bytes: Uint8Array) => {
    checksum.update(bytes);
    return sink(bytes);
  };
  const rows: Record<string, number> = {};
  let bytes = 0;

  async function* content(): AsyncGenerator<Uint8Array> {
    for (const table of backupTables) {
      yield asLines([tableLine(table)]);
      let count = 0;
      for await (const batch of snapshot.rowsOf(table.name)) {
        yield asLines(batch.map(rowLine));
        count += batch.length;
        onRows(batch.length);
      }
      yield asLines([endLine(table, count)]);
      rows[table.name] = count;
    }
  }

  await send(Buffer.from(firstLine));
  const { ZSTD_c_compressionLevel, ZSTD_c_checksumFlag } = constants;
  const params = { [ZSTD_c_compressionLevel]: compressionLevel, [ZSTD_c_checksumFlag]: 1 };
  await pipeline(content, createZstdCompress({ params }), async (compressed) => {
    for await (const chunk of compressed as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      await send(chunk);
    }
  });
  const manifest = { format, ...origin, epoch, seq, hash, at, rows, bytes };
  await send(Buffer.from(`\n${manifestStart(manifest)}`));
  await sink(Buffer.from(manifestEnd(checksum.digest("hex"))));
  return manifest;
}

function asLines(lines: readonly string[]): Uint8Array {
  return Buffer.from(`${lines.join("\n")}\n`);
}
