import { randomBytes } from "node:crypto";
import {
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";

/** Something that an operator may do by mistake to the files of a store while it is served. */
export interface Mistake {
  /** What the operator does. Part of the test's name. */
  readonly name: string;
  /** Of the file that the log names. Undefined if it may be any. */
  readonly suffix: string | undefined;
  /** Makes the mistake on the store at this path. */
  readonly make: (file: string) => void;
  /** Part of the description in the log. */
  readonly what: string;
  /** Whether GET still works. */
  readonly reads: boolean;
  /** Whether some updates are then only in a log that no other process can open. A kill loses them. */
  readonly strands?: boolean;
  /** What the operator does before the next start, if a restart is not enough. */
  readonly mend?: (file: string) => void;
  /** Whether it could end the process during a transaction, so that it is made without updates. */
  readonly isIdle?: boolean;
}

/** The path of a copy of the store from before the service started. */
export const copyOf = (file: string) => `${file}.copy`;

const dataSuffixes = ["", "-wal", "-shm"];
const olderOf = (path: string) => `${path}.older`;

/** Copies the files as they are now, for the mistakes that put older ones back. */
export function keepOlder(file: string): void {
  for (const suffix of dataSuffixes) cpSync(file + suffix, olderOf(file + suffix));
}

const remove = (suffix: string) => (file: string) => rmSync(file + suffix);
const move = (suffix: string) => (file: string) =>
  renameSync(file + suffix, `${file + suffix}.away`);
const truncate = (suffix: string) => (file: string) => truncateSync(file + suffix);
const cut = (suffix: string, bytesOf: (size: number) => number) => (file: string) =>
  truncateSync(file + suffix, bytesOf(statSync(file + suffix).size));
const fill = (suffix: string, bytesOf: (size: number) => Uint8Array) => (file: string) =>
  overwrite(file + suffix, bytesOf(statSync(file + suffix).size));
const putOlderBack = (suffix: string) => (file: string) =>
  overwrite(file + suffix, readFileSync(olderOf(file + suffix)));
/** As `cp` does: the file is empty for a moment. */
const copyOlderOver = (suffix: string) => (file: string) =>
  writeFileSync(file + suffix, readFileSync(olderOf(file + suffix)));

/** Overwrites a file in place, as `dd conv=notrunc` does. */
export function overwrite(path: string, bytes: Uint8Array): void {
  const handle = openSync(path, "r+");
  writeSync(handle, bytes, 0, bytes.length, 0);
  closeSync(handle);
}

const gone = "deleted or moved away";
const overwritten = "truncated or overwritten";
const row = (
  name: string,
  suffix: string | undefined,
  make: Mistake["make"],
  what: string,
  more: Partial<Mistake> = {},
): Mistake => ({ name, suffix, make, what, reads: false, ...more });

/** Mistakes after which a stop and a start have every acknowledged update. */
export const harmless: Mistake[] = [
  row("deleting -wal", "-wal", remove("-wal"), gone, { strands: true }),
  row("moving -wal", "-wal", move("-wal"), gone, { strands: true }),
  row("deleting -shm", "-shm", remove("-shm"), gone),
  row("moving -shm", "-shm", move("-shm"), gone),
  row("truncating -shm", "-shm", truncate("-shm"), "truncated", { isIdle: true }),
  row("deleting -serving", "-serving", remove("-serving"), gone, { reads: true }),
  row("moving -serving", "-serving", move("-serving"), gone, { reads: true }),
  row("deleting -changes", "-changes", remove("-changes"), gone, { reads: true }),
  row("moving -changes", "-changes", move("-changes"), gone, { reads: true }),
  row("truncating -changes", "-changes", truncate("-changes"), "truncated", { reads: true }),
  row(
    "deleting every side file at once",
    // The service may look while they are being deleted, and names the one that it misses first.
    undefined,
    (file) => {
      for (const suffix of ["-wal", "-shm", "-serving", "-changes"]) rmSync(file + suffix);
    },
    gone,
    { strands: true },
  ),
  row("moving the database away", "", move(""), gone, {
    reads: true,
    mend: (file) => renameSync(`${file}.away`, file),
  }),
];

/** Mistakes that destroy data, so that a backup must be restored. */
export const destructive: Mistake[] = [
  row("deleting the database", "", remove(""), gone, { reads: true }),
  row("truncating the database", "", truncate(""), overwritten),
  row(
    "cutting the database in half",
    "",
    cut("", (size) => size / 2),
    overwritten,
  ),
  row("overwriting the database with garbage", "", fill("", randomBytes), overwritten),
  row("putting an older database back", "", putOlderBack(""), overwritten),
  row(
    "copying an older store over the database",
    "",
    (file) => cpSync(copyOf(file), file),
    overwritten,
  ),
  row(
    "copying something else over the database",
    "",
    (file) => writeFileSync(file, "not a database ".repeat(4_000)),
    overwritten,
  ),
  row(
    "replacing the database with another file",
    "",
    (file) => renameSync(copyOf(file), file),
    "replaced by another file",
    { reads: true },
  ),
  row(
    "putting a backup of all files back",
    undefined,
    (file) => {
      for (const suffix of dataSuffixes) putOlderBack(suffix)(file);
    },
    overwritten,
  ),
];

/**
 * Mistakes that the service cannot see at once, and that lose updates. The next start finds fewer rows than
 * the mark names.
 */
export const losing: Pick<Mistake, "name" | "make">[] = [
  { name: "truncating -wal", make: truncate("-wal") },
  { name: "cutting -wal after its first frame", make: cut("-wal", () => 4_200) },
  { name: "overwriting -wal with zeros", make: fill("-wal", Buffer.alloc) },
  { name: "overwriting the start of -wal", make: fill("-wal", () => randomBytes(32)) },
  { name: "copying an older -wal over it", make: copyOlderOver("-wal") },
];
