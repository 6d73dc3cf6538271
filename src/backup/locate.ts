import { basename, dirname } from "node:path";
import type { ObjectAccess } from "../domain/operations/backups.ts";
import { isBucketAddress, openBucket, patient } from "./bucket.ts";
import { openFolder } from "./disk.ts";
import { type BackupKey, decrypting, readKeyFile } from "./encryption.ts";
import type { Patience } from "./object-requests.ts";
import type { BackupPlace, BackupSource } from "./place.ts";

/** What is needed to use backups, besides their address. Part of the Config. */
export interface BackupAccess {
  readonly objectAccess: ObjectAccess;
  /** Empty if backups are not encrypted. */
  readonly backupKeyFile: string;
}

/** Opens a folder, or `s3://bucket/prefix`. Encrypted backups in it are decrypted when they are read. */
export function openPlace(
  address: string,
  access: BackupAccess,
  patience: Patience = patient,
): BackupPlace {
  const place = isBucketAddress(address)
    ? openBucket(address, access.objectAccess, patience)
    : openFolder(address);
  return {
    ...place,
    async open(name) {
      await using opened = new AsyncDisposableStack();
      const bytes = opened.use(await place.open(name));
      // Read each time: operators add keys.
      const content = await decrypting(place.addressOf(name), bytes, () => keysOf(access));
      opened.move();
      return content;
    },
  };
}

/** The keys for backups. New ones are encrypted with the first. None if they are not encrypted. */
export function keysOf({ backupKeyFile }: BackupAccess): readonly BackupKey[] {
  return backupKeyFile === "" ? [] : readKeyFile(backupKeyFile);
}

/** A backup that a command reads. Errors of a disk come from the operating system. */
export function sourceOf(address: string, access: BackupAccess): BackupSource {
  return { address, open: async () => openPlace(dirname(address), access).open(basename(address)) };
}

/** Whether there is something at an address that a command was given. */
export async function existsAt(address: string, access: BackupAccess): Promise<boolean> {
  return openPlace(dirname(address), access).exists(basename(address));
}
