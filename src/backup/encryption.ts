import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { reasonOf } from "../file-errors.ts";
import { damagedBackup, newerFormat } from "./manifest.ts";
import { type BackupBytes, PlaceError } from "./place.ts";
import type { Sink } from "./writer.ts";

/*
 * An encrypted backup is one line of text, which names the key and the file, and then the backup in chunks.
 * Each chunk is encrypted and authenticated with AES-256-GCM. The key of a file is derived from the key
 * of the operator and the random id of the file, so no two files share a key, and a nonce can be
 * the number of the chunk. The last chunk has another nonce than it would have elsewhere, so a file that was
 * cut off between two chunks is noticed. Chunks of other files and other positions are too.
 */

const chunkBytes = 64 * 1024;
const tagBytes = 16;
const storedBytes = chunkBytes + tagBytes;
const headerStart = "petstore encrypted backup ";
const headerPattern = /^petstore encrypted backup 1 ([0-9a-f]{16}) ([0-9a-f]{32})\n/;
const headerBytes = headerStart.length + 52;

export interface BackupKey {
  /** Names the key in files, and reveals nothing about it. */
  readonly id: string;
  readonly secret: Buffer;
}

/**
 * The keys in a file. New backups are encrypted with the first one, and each opens those that it encrypted.
 * None without a file.
 */
export function readKeyFile(file: string): readonly BackupKey[] {
  if (file === "") return [];
  let text = "";
  try {
    // Others can be endless, or make the process wait. Some editors put a mark at the start.
    if (statSync(file).isFile()) text = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new PlaceError(`cannot read the key file ${file}: ${reasonOf(error)}`);
  }
  const keys = text.split(/\s*\n\s*/).filter((line) => !/^(#|$)/.test(line));
  // No line is shown: it may be a key with a typing mistake.
  if (keys.length === 0 || !keys.every((line) => /^[0-9a-f]{64}$/i.test(line))) {
    const rule =
      "it must have a key of 64 hexadecimal digits in each line, besides comments with #";
    throw new PlaceError(`the key file ${file} is invalid: ${rule}`);
  }
  return keys.map((line) => {
    const secret = Buffer.from(line, "hex");
    const digest = createHash("sha256").update("petstore backup key").update(secret);
    return { id: digest.digest("hex").slice(0, 16), secret };
  });
}

/** Returns the parameters of the cipher for each chunk of a file. */
function chunksOf({ secret }: BackupKey, fileId: Buffer) {
  const key = Buffer.from(hkdfSync("sha256", secret, fileId, "petstore backup", 32));
  return (index: number, isLast: boolean) => {
    const nonce = Buffer.alloc(12);
    nonce.writeUIntBE(index, 5, 6);
    nonce[11] = isLast ? 1 : 0;
    return ["aes-256-gcm", key, nonce, { authTagLength: tagBytes }] as const;
  };
}

/** Encrypts what `write` writes. Without a key, it goes to the sink as it is. At most one chunk is in memory. */
export async function encrypting<T>(
  key: BackupKey | undefined,
  sink: Sink,
  write: (sink: Sink) => Promise<T>,
): Promise<T> {
  if (!key) return write(sink);
  const fileId = randomBytes(16);
  const header = Buffer.from(`${headerStart}1 ${key.id} ${fileId.toString("hex")}\n`);
  const parametersOf = chunksOf(key, fileId);
  let pending = Buffer.alloc(0);
  let index = 0;
  async function send(chunk: Buffer, isLast: boolean): Promise<void> {
    const cipher = createCipheriv(...parametersOf(index++, isLast)).setAAD(header);
    await sink(Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]));
  }
  await sink(header);
  const result = await write(async (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    // The last chunk is never empty, and is known only at the end.
    for (; pending.length > chunkBytes; pending = pending.subarray(chunkBytes)) {
      await send(pending.subarray(0, chunkBytes), false);
    }
  });
  await send(pending, true);
  return result;
}

/** The content of a backup, decrypted where it is encrypted. Disposing of it closes the backup. */
export async function decrypting(
  address: string,
  bytes: BackupBytes,
  keyFile: string,
): Promise<BackupBytes> {
  const header = await bytes.read(0, headerBytes);
  const line = header.toString("latin1");
  if (!line.startsWith(headerStart)) return bytes;
  const [, keyId, fileId] = headerPattern.exec(line) ?? [];
  if (/^\D+[2-9] /.test(line)) throw newerFormat(address);
  if (fileId === undefined) throw damagedBackup(address, "its first line is invalid");
  // Read each time: operators add keys.
  const key = readKeyFile(keyFile).find(({ id }) => id === keyId);
  if (!key) {
    const remedy = "give the file that has this key to --backup-key-file";
    throw new PlaceError(`${address} is encrypted with the key ${keyId}; ${remedy}`);
  }
  const parametersOf = chunksOf(key, Buffer.from(fileId, "hex"));
  const last = Math.ceil((bytes.size - headerBytes) / storedBytes) - 1;
  const size = bytes.size - headerBytes - (last + 1) * tagBytes;
  if (last < 0 || size <= last * chunkBytes) throw damagedBackup(address, "it is cut off");

  /** Throws if the chunk is not exactly what was written at this position. */
  function decrypt(chunk: Buffer, index: number): Buffer {
    const decipher = createDecipheriv(...parametersOf(index, index === last)).setAAD(header);
    try {
      decipher.setAuthTag(chunk.subarray(-tagBytes));
      return Buffer.concat([decipher.update(chunk.subarray(0, -tagBytes)), decipher.final()]);
    } catch {
      throw damagedBackup(address, "its encrypted content was changed or cut off");
    }
  }

  return {
    size,
    isEncrypted: true,
    async read(start, length) {
      const end = Math.min(start + length, size);
      const first = Math.floor(start / chunkBytes);
      const count = Math.ceil(end / chunkBytes) - first;
      const stored = await bytes.read(headerBytes + first * storedBytes, count * storedBytes);
      const chunks = Array.from({ length: count }, (_, index) =>
        decrypt(stored.subarray(index * storedBytes, (index + 1) * storedBytes), first + index),
      );
      return Buffer.concat(chunks).subarray(start - first * chunkBytes, end - first * chunkBytes);
    },
    [Symbol.asyncDispose]: () => bytes[Symbol.asyncDispose](),
  };
}
