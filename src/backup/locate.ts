import { basename, dirname, resolve } from "node:path";
import type { ObjectAccess } from "../domain/operations/backups.ts";
import { shownAddress } from "../domain/values/hiding.ts";
import { impatient, isBucketAddress, openBucket, patient } from "./bucket.ts";
import { openFolder } from "./disk.ts";
import { decrypting } from "./encryption.ts";
import type { BackupPlace } from "./place.ts";

/** What is needed to use backups, besides their address. Part of the Config. */
export interface BackupAccess {
  readonly objectAccess: ObjectAccess;
  /** Empty if backups are not encrypted. */
  readonly backupKeyFile: string;
}

/** Opens a folder, or `s3://bucket/prefix`. Encrypted backups in it are decrypted when they are read. */
export function openPlace(address: string, access: BackupAccess, how = impatient): BackupPlace {
  const place = isBucketAddress(address)
    ? openBucket(address, access.objectAccess, how)
    : openFolder(address);
  return {
    ...place,
    async open(name) {
      const bytes = await place.open(name);
      const content = decrypting(place.addressOf(name), bytes, access.backupKeyFile);
      content.catch(() => bytes[Symbol.asyncDispose]());
      return content;
    },
  };
}

/** The backup at a path or an address that a command was given. */
export function sourceOf(address: string, access: BackupAccess) {
  const [place, name] = [openPlace(dirname(address), access, patient), basename(address)];
  return { address, open: () => place.open(name), exists: () => place.exists(name) };
}

/** A backup as it is recorded: the full path, an address in a bucket, or `-`. */
export function fullAddress(file: string): string {
  return shownAddress(file === "-" || isBucketAddress(file) ? file : resolve(file));
}
