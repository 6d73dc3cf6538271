import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
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
const cipherName = "aes-256-gcm";
const headerStart = "petstore encrypted backup ";
const headerPattern = /^petstore encrypted backup 1 ([0-9a-f]{16}) ([0-9a-f]{32})\n/;
const headerBytes = `${headerStart}1 ${"0".repeat(16)} ${"0".repeat(32)}\n`.length;

export interface BackupKey {
  /** Names the key in files, and reveals nothing about it. */
  readonly id: string;
  readonly secret: Buffer;
}

/** The keys in a file. New backups are encrypted with the first one, and each opens those that it encrypted. */
export function readKeyFile(file: string): readonly BackupKey[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new PlaceError(`cannot read the key file ${file}: ${reasonOf(error)}`);
  }
  const lines = text.split("\n").map((line) => line.trim());
  const keys = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (keys.length === 0) throw new PlaceError(`the key file ${file} has no key`);
  const rule = "each line must be a key of 64 hexadecimal digits, or start with #";
  return keys.map((line) => {
    // The line is not shown: it may be a key with a typing mistake.
    if (!/^[0-9a-f]{64}$/i.test(line))
      throw new PlaceError(`the key file ${file} is invalid: ${rule}`);
    const secret = Buffer.from(line, "hex");
    const id = createHash("sha256").update("petstore backup key").update(secret).digest("hex");
    return { id: id.slice(0, 16), secret };
  });
}

/** What chunks of one file have in common. */
function chunkCipher({ secret }: BackupKey, fileId: Buffer, header: string) {
  const key = Buffer.from(hkdfSync("sha256", secret, fileId, "petstore backup", 32));
  function nonceOf(index: number, isLast: boolean): Buffer {
    const nonce = Buffer.alloc(12);
    nonce.writeUIntBE(index, 5, 6);
    nonce[11] = isLast ? 1 : 0;
    return nonce;
  }
  return {
    encrypt(chunk: Uint8Array, index: number, isLast: boolean): Buffer {
      const cipher = createCipheriv(cipherName, key, nonceOf(index, isLast));
      cipher.setAAD(Buffer.from(header));
      return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
    },
    /** Throws if the chunk is not exactly what was written at this position. */
    decrypt(chunk: Buffer, index: number, isLast: boolean): Buffer {
      const decipher = createDecipheriv(cipherName, key, nonceOf(index, isLast));
      decipher.setAAD(Buffer.from(header));
      decipher.setAuthTag(chunk.subarray(-tagBytes));
      return Buffer.concat([decipher.update(chunk.subarray(0, -tagBytes)), decipher.final()]);
    },
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
  const header = `${headerStart}1 ${key.id} ${fileId.toString("hex")}\n`;
  const { encrypt } = chunkCipher(key, fileId, header);
  let pending = Buffer.alloc(0);
  let index = 0;
  await sink(Buffer.from(header));
  const result = await write(async (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    // The last chunk is never empty, and is known only at the end.
    while (pending.length > chunkBytes) {
      await sink(encrypt(pending.subarray(0, chunkBytes), index++, false));
      pending = pending.subarray(chunkBytes);
    }
  });
  await sink(encrypt(pending, index, true));
  return result;
}

/** The content of a backup, decrypted where it is encrypted. Disposing of it closes the backup. */
export async function decrypting(
  address: string,
  bytes: BackupBytes,
  readKeys: () => readonly BackupKey[],
): Promise<BackupBytes> {
  const header = (await bytes.read(0, headerBytes)).toString("latin1");
  if (!header.startsWith(headerStart)) return bytes;
  const [, keyId, fileId] = headerPattern.exec(header) ?? [];
  if (keyId === undefined || fileId === undefined) {
    if (/ ([2-9]|\d\d+) /.test(header)) throw newerFormat(address);
    throw damagedBackup(address, "its first line is invalid");
  }
  const keys = readKeys();
  const key = keys.find(({ id }) => id === keyId);
  if (!key) {
    const found = keys.length === 0 ? "is encrypted" : "is encrypted with another key";
    const remedy = `give the file that has the key ${keyId} to --backup-key-file`;
    throw new PlaceError(`${address} ${found}; ${remedy}`);
  }
  const { decrypt } = chunkCipher(key, Buffer.from(fileId, "hex"), header);
  const storedBytes = chunkBytes + tagBytes;
  const last = Math.ceil((bytes.size - headerBytes) / storedBytes) - 1;
  const size = bytes.size - headerBytes - (last + 1) * tagBytes;
  if (size <= last * chunkBytes) throw damagedBackup(address, "it is cut off");

  return {
    size,
    async read(start, length) {
      const end = Math.min(start + length, size);
      if (start >= end) return Buffer.alloc(0);
      const [from, to] = [Math.floor(start / chunkBytes), Math.floor((end - 1) / chunkBytes)];
      const stored = await bytes.read(
        headerBytes + from * storedBytes,
        (to - from + 1) * storedBytes,
      );
      const chunks: Buffer[] = [];
      for (let index = from; index <= to; index++) {
        const at = (index - from) * storedBytes;
        try {
          chunks.push(decrypt(stored.subarray(at, at + storedBytes), index, index === last));
        } catch {
          throw damagedBackup(address, "its encrypted content was changed or cut off");
        }
      }
      return Buffer.concat(chunks).subarray(start - from * chunkBytes, end - from * chunkBytes);
    },
    [Symbol.asyncDispose]: () => bytes[Symbol.asyncDispose](),
  };
}
