// Reads the log that tracer.c writes.
import { readFileSync } from "node:fs";

const operations = [
  "create",
  "write",
  "truncate",
  "sync",
  "rename",
  "link",
  "unlink",
  "mkdir",
  "rmdir",
  "failed sync",
] as const;

/** One change to a file or folder, in the order in which they ended. */
export interface Operation {
  readonly kind: (typeof operations)[number];
  /** The length of the log after this operation. A client that reads it knows what came before. */
  readonly position: number;
  readonly path: string;
  /** The new name of a rename or a link. */
  readonly target: string;
  readonly inode: number;
  /** Of a write. */
  readonly data: Buffer;
  /** Where a write begins, or the length after a truncation. */
  readonly offset: number;
  /** The length of the log when a sync began. Only what came before is certain to be on the disk. */
  readonly begin: number;
}

const headerBytes = 32;

export function readLog(file: string): readonly Operation[] {
  const log = readFileSync(file);
  const found: Operation[] = [];
  for (let at = 0; at + headerBytes <= log.length; ) {
    const pathAt = at + headerBytes;
    const targetAt = pathAt + log.readUInt32LE(at + 4);
    const dataAt = targetAt + log.readUInt32LE(at + 8);
    const position = dataAt + log.readUInt32LE(at + 12);
    const number = Number(log.readBigUInt64LE(at + 24));
    found.push({
      kind: operations[log.readUInt32LE(at) - 1]!,
      position,
      path: log.toString("utf8", pathAt, targetAt),
      target: log.toString("utf8", targetAt, dataAt),
      inode: Number(log.readBigUInt64LE(at + 16)),
      data: log.subarray(dataAt, position),
      offset: number,
      begin: number,
    });
    at = position;
  }
  return found;
}
