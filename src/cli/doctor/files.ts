import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { formatBytes } from "../../domain/values/sizes.ts";
import { filesOf } from "../../store/sqlite/engine/files.ts";
import { describeLostRows, findLostRows, lostRowsAdvice } from "../../store/sqlite/engine/mark.ts";
import { findScratchFolder } from "../../store/sqlite/engine/second-name.ts";
import { isServed } from "../../store/sqlite/engine/serving-lock.ts";
import {
  type Bounds,
  type Check,
  defaultBounds,
  type Found,
  ok,
  problem,
  warning,
} from "./finding.ts";

/** Checks of the files of a SQLite store that exists: who can use them, and whether they can grow. */
export function fileChecks(path: string, bounds: Bounds): readonly Check[] {
  const real = fs.realpathSync(path);
  const folder = dirname(real);
  const advice = "Check the path and the rights of the user that runs the service.";
  const folderAdvice = "Check that the folder is writable and has space.";
  return [
    ["file names", advice, () => checkNames(path, real)],
    ["permissions", advice, () => checkRights(real, folder)],
    ["disk space", advice, () => checkSpace(folder, storeBytes(real), bounds)],
    ["flush time", folderAdvice, () => checkFlush(folder, bounds)],
    ["serving", advice, () => checkServing(path)],
    ["last row", "Run petstore verify.", () => checkLastRow(path)],
  ];
}

function checkLastRow(path: string): Found {
  const lost = findLostRows(path);
  if (lost === undefined) return ok("no acknowledged row is missing");
  if (lost === "unmarked") return ok("not known: there is no mark of the last acknowledged row");
  return problem(describeLostRows(lost), `The reason: ${lostRowsAdvice}.`);
}

function checkServing(path: string): Found {
  return ok(isServed(filesOf(path)) ? "a service uses the store now" : "no service runs");
}

/** The size of the database and of its write-ahead log. */
export function storeBytes(real: string): number {
  const sizeOf = (file: string) => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return sizeOf(real) + sizeOf(`${real}-wal`);
}

function checkNames(path: string, real: string): Found {
  const { nlink } = fs.statSync(real);
  const scratch = nlink > 1 ? findScratchFolder(real) : undefined;
  if (scratch !== undefined) {
    const found = `an interrupted restore has left a second name of ${real} in ${scratch}`;
    return warning(found, "The next start of the service removes it.");
  }
  if (nlink > 1) {
    return problem(
      `${real} has ${nlink} names (hard links)`,
      "Remove the others, or copy the file: changes through one name destroy the others.",
    );
  }
  const isLink = fs.lstatSync(path).isSymbolicLink();
  return ok(isLink ? `${path} is a link to ${real}` : "one name, no link");
}

const sideFiles = ["", "-wal", "-shm", "-serving", "-changes"];

function checkRights(real: string, folder: string): readonly Found[] {
  const files = sideFiles.map((ending) => real + ending).flatMap((file) => statOf(file));
  const open = files.filter(({ found }) => (found.mode & 0o077) !== 0).map(({ file }) => file);
  const me = process.getuid?.();
  const strange = [...files, ...statOf(folder)].filter(({ found }) => found.uid !== me);
  const { mode } = fs.statSync(folder);
  const [other] = me === undefined ? [] : strange;
  const findings: readonly (Found | false | undefined)[] = [
    open.length > 0 &&
      warning(
        `other users can read or write ${open.join(", ")}`,
        `Run chmod 600 ${open.join(" ")}. The files contain stock and digests of keys.`,
      ),
    (mode & 0o022) !== 0 &&
      warning(
        `other users can replace files in ${folder}`,
        `Run chmod 700 ${folder}, or move the store to a folder of its own.`,
      ),
    other && {
      name: "owner",
      ...warning(
        `${other.file} belongs to user ${other.found.uid}, and this command runs as user ${me}`,
        "Run the service and its commands as the owner of the store.",
      ),
    },
  ];
  const found = findings.filter((one) => !!one);
  const fine = ok("only the owner, which is the current user, can use the files");
  return found.length > 0 ? found : [fine];
}

function statOf(file: string): { file: string; found: fs.Stats }[] {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  return found ? [{ file, found }] : [];
}

/** `neededBytes` is what a copy of the store takes: a backup makes one. */
export function checkSpace(
  folder: string,
  neededBytes: number,
  { diskBytesMin, inodesMin }: Bounds,
): Found {
  const { bavail, bsize, files, ffree } = fs.statfsSync(folder);
  const freeBytes = bavail * bsize;
  const found = `${formatBytes(freeBytes)} free in ${folder}, the store has ${formatBytes(neededBytes)}`;
  if (freeBytes < diskBytesMin) {
    return problem(found, "Free some space: a full disk stops all updates.");
  }
  // A file system without a table of inodes reports none at all.
  if (files > 0 && ffree < inodesMin) {
    return problem(`${ffree} inodes free in ${folder}`, "Delete files that are not needed.");
  }
  return freeBytes < neededBytes
    ? warning(found, "Free some space: a backup needs a copy of the store.")
    : ok(found);
}

const flushes = 7;

/** Flushes a small file beside the database, as every commit flushes the log, and removes it. */
function checkFlush(folder: string, { flushMsMax }: Bounds): Found {
  const file = join(folder, `.petstore-doctor-${process.pid}`);
  const handle = fs.openSync(file, "wx", 0o600);
  const times: number[] = [];
  try {
    for (let turn = 0; turn < flushes; turn++) {
      const startedAt = performance.now();
      fs.writeSync(handle, new Uint8Array(4096));
      fs.fsyncSync(handle);
      times.push(performance.now() - startedAt);
    }
  } finally {
    fs.closeSync(handle);
    fs.unlinkSync(file);
  }
  const medianMs = times.sort((one, other) => one - other)[Math.floor(flushes / 2)]!;
  const found = `a flush takes ${medianMs.toFixed(1)} ms (median of ${flushes})`;
  return medianMs > flushMsMax
    ? warning(
        found,
        `Use a faster disk: over ${defaultBounds.flushMsMax} ms, updates wait for it noticeably.`,
      )
    : ok(found);
}
