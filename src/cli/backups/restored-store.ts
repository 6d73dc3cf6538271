import { dirname } from "node:path";
import { sourceOf } from "../../backup/locate.ts";
import { countAllRows, damagedBackup, type Manifest } from "../../backup/manifest.ts";
import { type Backup, openBackup } from "../../backup/reader.ts";
import type { Config } from "../../config.ts";
import { ServiceError } from "../../domain/running/errors.ts";
import type { Store } from "../../domain/store.ts";
import type { Verification } from "../../domain/verification/verify.ts";
import { reasonOf } from "../../file-errors.ts";
import { systemClock } from "../../opening/engines.ts";
import { openToFill } from "../../opening/stores.ts";
import { printWarning } from "../../output.ts";
import { counted } from "../paragraphs.ts";
import { countingRows, createProgress, type Progress } from "../progress.ts";
import { verifyWithProgress } from "../verify.ts";
import { type ReadDisk, whileRoom } from "./room.ts";

/** A backup in a SQLite store, in which no fault was found. */
export interface Restored {
  readonly manifest: Manifest;
  readonly verification: Verification;
  /** How long each step took. */
  readonly durations: {
    readonly checkMs: number;
    readonly loadMs: number;
    readonly verifyMs: number;
  };
}

/** Restores a backup to a new SQLite file and checks it. */
export type RestoreTo = (path: string) => Promise<Restored>;

/**
 * Restores a backup to a new SQLite file and checks everything: the checksum of the backup, the rows
 * of each table, the whole store as `petstore verify` does, and the end of the ledger against the
 * manifest.
 */
export async function restoreAndVerify(
  file: string,
  path: string,
  config: Config,
  readDisk?: ReadDisk,
): Promise<Restored> {
  const start = performance.now();
  const backup = await open(file, config);
  const checked = performance.now();
  const store = await openToFill({ ...config, databaseUrl: `sqlite:${path}` }, systemClock);
  try {
    await load(file, { ...backup, rowsOf: whileRoom(backup.rowsOf, path, readDisk) }, store);
    const loaded = performance.now();
    const verification = await verifyAgainst(file, backup.manifest, store);
    const durations = {
      checkMs: Math.round(checked - start),
      loadMs: Math.round(loaded - checked),
      verifyMs: Math.round(performance.now() - loaded),
    };
    return { manifest: backup.manifest, verification, durations };
  } catch (error) {
    return throwFor(path, error);
  } finally {
    await store.close();
  }
}

/** The scratch store has no space, or its disk fails. The backup may be good. */
export function throwFor(path: string, error: unknown): never {
  if (!(error instanceof ServiceError) || error.reason === undefined) throw error;
  const reason = typeof error.cause === "string" ? error.cause : error.message;
  throw new ServiceError("unavailable", `cannot write to ${dirname(path)}: ${reason}`);
}

export async function assertBackup(file: string, config: Config): Promise<void> {
  if (await sourceOf(file, config).exists()) return;
  throw new ServiceError("invalid_request", `cannot read ${file}: no such file`);
}

/** Opens a backup and shows the progress of its checksum. */
export async function open(file: string, config: Config): Promise<Backup> {
  using opened = new DisposableStack();
  let progress: Progress | undefined;
  try {
    const backup = await openBackup(sourceOf(file, config), config.environment, (bytes, total) => {
      progress ??= opened.use(createProgress(`Checking ${file}`, total, { unit: "bytes" }));
      progress.advance(bytes);
    });
    if (config.backupKeyFile && !backup.isEncrypted) printWarning(`${file} is not encrypted`);
    return backup;
  } catch (error) {
    throw withFileName(file, error);
  }
}

async function load(file: string, { manifest, rowsOf }: Backup, store: Store): Promise<void> {
  using progress = createProgress(`Reading ${file}`, countAllRows(manifest));
  try {
    await store.transfer.importTables(countingRows(rowsOf, progress));
  } catch (error) {
    throw withFileName(file, error);
  }
}

/** Errors of the operating system and of the store do not name the file. */
function withFileName(file: string, error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  if ((error as NodeJS.ErrnoException).syscall !== undefined) {
    return new ServiceError("invalid_request", `cannot read ${file}: ${reasonOf(error)}`);
  }
  return damagedBackup(file, `the store does not accept a row (${(error as Error).message})`);
}

/** Verifies a store in which the backup is, and that its ledger ends there. */
export async function verifyAgainst(
  file: string,
  { seq, hash }: Pick<Manifest, "seq" | "hash">,
  store: Store,
): Promise<Verification> {
  const found = await store.transfer.snapshot((snapshot) => verifyWithProgress(snapshot));
  if (found.faultCount > 0) {
    const count = counted(found.faultCount, "fault");
    throw damagedBackup(file, `its content has ${count}, the first one: ${found.faults[0]}`);
  }
  if (found.seq !== seq || found.hash !== hash) {
    const claimed = `${seq}:${hash}`;
    throw damagedBackup(
      file,
      `its ledger ends at ${found.seq}:${found.hash}, but its manifest says ${claimed}`,
    );
  }
  return found;
}
