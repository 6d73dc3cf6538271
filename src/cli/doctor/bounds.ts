import { dayMs } from "../../domain/limits/limits.ts";

/** The thresholds of the checks. */
export const defaultBounds = {
  /** Free space below this is a problem, whatever the size of the store. */
  diskBytesMin: 256 * 1024 * 1024,
  inodesMin: 1_000,
  /** The median of several flushes to disk. Every update waits for one. */
  flushMsMax: 20,
  /** The difference to the clock of the database server, or to a time in the store. */
  clockMsMax: 2_000,
  /** Certificates and keys that expire within this time get a warning. */
  endingMs: 14 * dayMs,
  /** Used without --backup-every. */
  backupAgeMsMax: dayMs,
  drillAgeMsMax: 35 * dayMs,
  /** Files and connections besides the streams of the feed. */
  descriptorsBesideStreams: 1_000,
  /** The deadline of all checks that use the database. */
  databaseMs: 6_000,
};

export type Bounds = typeof defaultBounds;
