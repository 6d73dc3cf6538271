import { dayMs } from "../../domain/limits.ts";

/** Where the checks draw their lines. */
export const defaultBounds = {
  /** Free space below this is a problem, whatever the size of the store. */
  diskBytesMin: 256 * 1024 * 1024,
  inodesMin: 1_000,
  /** The median of several flushes. Every update waits for one. */
  flushMsMax: 20,
  /** Between this machine and the database server, or a time in the store. */
  clockMsMax: 2_000,
  /** Certificates and keys that end within this time. */
  endingMs: 14 * dayMs,
  /** Without --backup-every. */
  backupAgeMsMax: dayMs,
  drillAgeMsMax: 35 * dayMs,
  /** Files and connections besides the streams of the feed. */
  descriptorsBesideStreams: 1_000,
  /** For everything that asks the database. */
  databaseMs: 6_000,
};

export type Bounds = typeof defaultBounds;
