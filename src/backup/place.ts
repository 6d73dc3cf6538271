import type { BackupFile } from "../domain/operations/backups.ts";
import { ServiceError } from "../domain/running/errors.ts";

/** The bytes of a backup, as its writer made them. */
export interface BackupBytes extends AsyncDisposable {
  readonly size: number;
  readonly isEncrypted?: true;
  /** Returns fewer bytes at the end. */
  read(start: number, length: number): Promise<Buffer>;
}

/** A backup that can be read several times. */
export interface BackupSource {
  /** Its path or address, for messages. */
  readonly address: string;
  open(): Promise<BackupBytes>;
}

/** A file in a place. */
export type PlacedFile = Pick<BackupFile, "name" | "bytes">;

/** Where backups are: a folder on a disk, or a bucket in object storage. Names have no slash. */
export interface BackupPlace {
  /** A full path, or `s3://bucket/prefix`. */
  readonly address: string;
  addressOf(name: string): string;
  /** Creates the place if that is possible. */
  prepare(): void;
  exists(name: string): Promise<boolean>;
  open(name: string): Promise<BackupBytes>;
  /**
   * The files whose name starts with `start` and has the pattern, in the order of their names. Only the
   * last `filesMax`.
   */
  list(start: string, pattern: RegExp, filesMax: number): Promise<readonly PlacedFile[]>;
  /** Returns false if it stays, or if somebody else has removed it. */
  remove(name: string): Promise<boolean>;
  /** Removes what killed processes have left of files whose name starts with `start`. */
  removeUnfinished(start: string, isAbandoned: (name: string) => boolean): Promise<void>;
}

/**
 * A backup cannot be reached or opened now, and may still be good: the server does not respond, or the key
 * is missing. The message is one sentence that names the file or the place.
 */
export class PlaceError extends ServiceError {
  constructor(message: string) {
    super("invalid_request", message);
  }
}
