import { type StatsFs, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { ServiceError } from "../../domain/running/errors.ts";
import type { RowsOf } from "../../domain/verification/store.ts";
import { filesOf } from "../../store/sqlite/engine/files.ts";

export type ReadDisk = (folder: string) => Pick<StatsFs, "bavail" | "blocks" | "bsize">;

/** What stays free, on a small disk less. A service that runs on the restored store needs about this. */
const roomBytesMin = 64 * 1024 * 1024;
const roomShareMin = 1 / 20;

/**
 * Passes rows on to a new SQLite store while its disk has room. A small file can expand to any size, so its
 * own size and its counts of rows bound nothing. All rows are in the log first and then in the database,
 * so the log must fit a second time.
 */
export function whileRoom(rowsOf: RowsOf, path: string, readDisk: ReadDisk = statfsSync): RowsOf {
  const folder = dirname(path);
  const { wal } = filesOf(path);
  return async function* (table, fromSeq) {
    for await (const batch of rowsOf(table, fromSeq)) {
      const { bavail, blocks, bsize } = readDisk(folder);
      const room = Math.min(roomBytesMin, blocks * bsize * roomShareMin);
      const logBytes = statSync(wal, { throwIfNoEntry: false })?.size ?? 0;
      if (bavail * bsize < logBytes + room) {
        const problem = "the content of the backup would fill the disk";
        throw new ServiceError("unavailable", `cannot write to ${folder}: ${problem}`);
      }
      yield batch;
    }
  };
}
