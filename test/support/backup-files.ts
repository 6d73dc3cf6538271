import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";

/** The parts of a backup, so that a test can change one and keep the checksum right. */
export interface BackupParts {
  firstLine: string;
  lines: string[];
  manifest: Record<string, unknown>;
  /** Replaces the compressed lines. */
  compressed?: Uint8Array;
}

export function readParts(path: string): BackupParts {
  const bytes = readFileSync(path);
  const start = bytes.indexOf("\n") + 1;
  const end = bytes.lastIndexOf("\n", -2);
  const { sha256: _, ...manifest } = JSON.parse(bytes.subarray(end).toString());
  return {
    firstLine: bytes.subarray(0, start).toString(),
    lines: zstdDecompressSync(bytes.subarray(start, end)).toString().split("\n").slice(0, -1),
    manifest,
  };
}

/** Writes a backup with a right checksum and a right size, whatever its parts say. */
export function writeParts(path: string, parts: BackupParts): void {
  const { firstLine, lines, manifest, compressed } = parts;
  const content = compressed ?? zstdCompressSync(lines.map((line) => `${line}\n`).join(""));
  const last = `\n${JSON.stringify({ ...manifest, bytes: content.length }).slice(0, -1)},"sha256":"`;
  const checked = Buffer.concat([Buffer.from(firstLine), content, Buffer.from(last)]);
  const checksum = createHash("sha256").update(checked).digest("hex");
  writeFileSync(path, Buffer.concat([checked, Buffer.from(`${checksum}"}\n`)]));
}
