import {
  closeSync,
  cpSync,
  openSync,
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
  readonly suffix: string;
  /** Makes the mistake on the store at this path. */
  readonly make: (file: string) => void;
  /** Part of the description in the log. */
  readonly what: string;
  /** Whether GET still works. */
  readonly reads: boolean;
  /** Whether some updates are then only in a log that no other process can open. */
  readonly strands?: boolean;
  /** What the operator does before the next start, if a restart is not enough. */
  readonly mend?: (file: string) => void;
}

/** The path of a copy of the store from before the service started. */
export const copyOf = (file: string) => `${file}.copy`;
const remove = (suffix: string) => (file: string) => rmSync(file + suffix);
const truncate = (suffix: string) => (file: string) => truncateSync(file + suffix);

/** Overwrites a file in place, as `dd conv=notrunc` does. */
export function overwrite(path: string, bytes: Uint8Array): void {
  const handle = openSync(path, "r+");
  writeSync(handle, bytes, 0, bytes.length, 0);
  closeSync(handle);
}

/** Mistakes after which a restart has every acknowledged update. */
export const harmless: Mistake[] = [
  {
    name: "deleting -wal",
    suffix: "-wal",
    make: remove("-wal"),
    what: "deleted",
    reads: false,
    strands: true,
  },
  { name: "deleting -shm", suffix: "-shm", make: remove("-shm"), what: "deleted", reads: false },
  {
    name: "truncating -shm",
    suffix: "-shm",
    make: truncate("-shm"),
    what: "truncated",
    reads: false,
  },
  {
    name: "deleting -serving",
    suffix: "-serving",
    make: remove("-serving"),
    what: "deleted",
    reads: true,
  },
  {
    name: "deleting -changes",
    suffix: "-changes",
    make: remove("-changes"),
    what: "deleted",
    reads: true,
  },
  {
    name: "truncating -changes",
    suffix: "-changes",
    make: truncate("-changes"),
    what: "truncated",
    reads: true,
  },
  {
    name: "deleting every side file at once",
    suffix: "-wal",
    make: (file) => {
      for (const suffix of ["-wal", "-shm", "-serving", "-changes"]) rmSync(file + suffix);
    },
    what: "deleted",
    reads: false,
    strands: true,
  },
  {
    name: "moving the database away",
    suffix: "",
    make: (file) => renameSync(file, `${file}.away`),
    what: "deleted or moved away",
    reads: true,
    strands: true,
    mend: (file) => renameSync(`${file}.away`, file),
  },
  {
    name: "moving the database away without its log",
    suffix: "",
    make: (file) => renameSync(file, `${file}.away`),
    what: "deleted or moved away",
    reads: true,
    strands: true,
    mend: (file) => {
      for (const suffix of ["-wal", "-shm"]) rmSync(file + suffix, { force: true });
      renameSync(`${file}.away`, file);
    },
  },
];

/** Mistakes that destroy data, so that a backup must be restored. */
export const destructive: Mistake[] = [
  {
    name: "truncating the database",
    suffix: "",
    make: truncate(""),
    what: "overwritten",
    reads: false,
  },
  {
    name: "copying an older store over the database",
    suffix: "",
    make: (file) => cpSync(copyOf(file), file),
    what: "overwritten",
    reads: false,
  },
  {
    name: "copying something else over the database",
    suffix: "",
    make: (file) => writeFileSync(file, "not a database ".repeat(4_000)),
    what: "overwritten",
    reads: false,
  },
  {
    name: "truncating -wal",
    suffix: "-wal",
    make: truncate("-wal"),
    what: "truncated",
    reads: false,
  },
  {
    name: "cutting -wal in half",
    suffix: "-wal",
    make: (file) => truncateSync(`${file}-wal`, statSync(`${file}-wal`).size / 2),
    what: "truncated",
    reads: false,
  },
  {
    name: "overwriting -wal with zeros",
    suffix: "-wal",
    make: (file) => overwrite(`${file}-wal`, Buffer.alloc(statSync(`${file}-wal`).size)),
    what: "overwritten",
    reads: false,
  },
  {
    name: "replacing the database with another file",
    suffix: "",
    make: (file) => renameSync(copyOf(file), file),
    what: "replaced by another file",
    reads: true,
  },
];
