import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Random } from "../random.ts";
import type { Operation } from "../tracer/log.ts";

/** What became of changes that were not flushed when the power failed. */
export const rests = [
  "none",
  "all",
  // The first ones, in the order in which they were made.
  "prefix",
  // Each or not.
  "subset",
  // Of every block of 4 KiB, or of 512 bytes, those up to some moment.
  "pages",
  "sectors",
  // The first ones of every file: a later change to one file, but not an earlier one to another.
  "files",
  // The first names, and of every file everything or nothing: a name without its content, or the reverse.
  "names",
] as const;
export type Rest = (typeof rests)[number];

const folderEntry = "folder";

/** What a disk has after a power failure, by path. Two names of a file have the same object. */
export type Image = ReadonlyMap<string, Content | typeof folderEntry>;
interface Content {
  bytes: Buffer;
}

interface File {
  /** What is certainly on the disk: the first `length` bytes. */
  flushed: Buffer;
  length: number;
  /** Writes and truncations that may be on the disk or not. */
  pending: Operation[];
  /** What processes read, once a flush has failed. */
  cached?: Buffer;
  /** Pages that only processes see: the system has dropped them after a failed flush. */
  readonly dropped: Set<number>;
}

/** A folder entry that was added or removed. */
interface NameChange {
  readonly position: number;
  readonly name: string;
  /** Undefined if the name was removed. */
  readonly entry: Entry | undefined;
}
type Entry = File | typeof folderEntry;

const pageBytes = 4096;

/**
 * A disk that keeps only what it must: of a file what was flushed, of a folder the names that were there
 * when the folder was flushed. With `ignoresFlushes` it is the control: it keeps nothing.
 */
export function createDisk(root: string, random: Random, ignoresFlushes = false) {
  // A number of an inode is used again when its file is gone, so names refer to files.
  const files = new Map<number, File>();
  const folders = new Map<number, string>();
  const names = new Map<string, Entry>();
  let changes: NameChange[] = [];

  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { ino } = statSync(path);
    if (entry.isDirectory()) {
      folders.set(ino, path);
      names.set(path, folderEntry);
    } else if (entry.isFile()) {
      files.set(ino, newFile(readFileSync(path)));
      names.set(path, files.get(ino)!);
    }
  }
  folders.set(statSync(root).ino, root);

  function rename(position: number, name: string, entry: Entry | undefined): void {
    changes.push({ position, name, entry });
  }

  function sync({ inode, begin, kind }: Operation): void {
    if (ignoresFlushes) return;
    const path = folders.get(inode);
    const file = files.get(inode);
    if (path !== undefined && kind === "sync") {
      const isFlushed = ({ name, position }: NameChange) =>
        dirname(name) === path && position <= begin;
      for (const change of changes.filter(isFlushed)) applyName(names, change);
      changes = changes.filter((one) => !isFlushed(one));
    } else if (path === undefined && file) {
      if (kind === "sync") flush(file, begin);
      else dropPages(file, begin, random);
    }
  }

  return {
    apply(operation: Operation): void {
      const { kind, position, path, target, inode } = operation;
      const file = files.get(inode);
      // The index of the log is in memory that no flush reaches. SQLite makes it again.
      if (path.endsWith("-shm")) return;
      if (kind === "sync" || kind === "failed sync") sync(operation);
      else if (kind === "write" || kind === "truncate") {
        if (file) change(file, operation);
      } else if (kind === "mkdir") {
        folders.set(inode, path);
        rename(position, path, folderEntry);
      } else if (kind === "create") {
        files.set(inode, newFile(Buffer.alloc(0)));
        rename(position, path, files.get(inode));
      } else if (kind === "link") rename(position, target, file);
      else if (kind === "unlink" || kind === "rmdir") rename(position, path, undefined);
      else {
        rename(position, path, undefined);
        rename(position, target, file);
      }
    },
    /** What the disk has if the power fails now. */
    image(rest: Rest): Image {
      const pending = [...files.values()].flatMap((file) => file.pending);
      const moments = (of: readonly { position: number }[]) => [
        -1,
        ...of.map((one) => one.position),
      ];
      const all = moments([...pending, ...changes]);
      // Of names, the first ones: file systems keep their order.
      const until = { none: -1, all: Number.POSITIVE_INFINITY }[rest as string] ?? random.pick(all);
      const namesUntil = rest === "names" ? random.pick(moments(changes)) : until;
      const kept = new Map(names);
      for (const change of changes) if (change.position <= namesUntil) applyName(kept, change);
      const contents = new Map<Entry, Content>();
      const image = new Map<string, Content | typeof folderEntry>();
      for (const [path, entry] of kept) {
        if (!isReachable(path, root, kept)) continue;
        if (entry !== folderEntry && !contents.has(entry))
          contents.set(entry, { bytes: contentOf(entry, rest, until, random) });
        image.set(path, entry === folderEntry ? entry : contents.get(entry)!);
      }
      return image;
    },
  };
}

export type Disk = ReturnType<typeof createDisk>;

function applyName(names: Map<string, Entry>, { name, entry }: NameChange): void {
  if (entry === undefined) names.delete(name);
  else names.set(name, entry);
}

/** Whether every folder above a name is on the disk. */
function isReachable(path: string, root: string, kept: ReadonlyMap<string, Entry>): boolean {
  const folder = dirname(path);
  return folder === root || (kept.has(folder) && isReachable(folder, root, kept));
}

function newFile(flushed: Buffer): File {
  return { flushed, length: flushed.length, pending: [], dropped: new Set() };
}

function lengthAfter(length: number, { kind, offset, data }: Operation): number {
  return kind === "truncate" ? offset : Math.max(length, offset + data.length);
}

/** Has room for `length` bytes, and more, so that a file that grows is rarely copied. */
function withRoom(content: Buffer, length: number): Buffer {
  if (content.length >= length) return content;
  const copy = Buffer.alloc(length * 2);
  content.copy(copy);
  return copy;
}

/** Applies operations to the first `length` bytes of a buffer that may be replaced. */
function applyAll(content: Buffer, length: number, operations: readonly Operation[]) {
  for (const one of operations) {
    const after = lengthAfter(length, one);
    content = withRoom(content, after);
    if (one.kind === "write") one.data.copy(content, one.offset);
    else content.fill(0, Math.min(after, length), length);
    length = after;
  }
  return { content, length };
}

function change(file: File, operation: Operation): void {
  file.pending.push(operation);
  if (!file.cached) return;
  file.cached = applyAll(file.cached, file.cached.length, [operation]).content;
  const [first, end] = pagesOf(operation);
  const again = range(first, end).filter((page) => file.dropped.delete(page));
  if (again.length === 0) return;
  // A page that is written again is flushed as a whole.
  const length = file.pending.reduce(lengthAfter, file.length);
  const offset = first * pageBytes;
  const data = Buffer.from(file.cached.subarray(offset, Math.min(end * pageBytes, length)));
  file.pending.splice(-1, 1, { ...operation, offset, data });
}

/** The first page of a write, and the page after the last one. */
function pagesOf({ kind, offset, data }: Operation): [number, number] {
  if (kind !== "write") return [0, 0];
  return [Math.floor(offset / pageBytes), Math.ceil((offset + data.length) / pageBytes)];
}

function flush(file: File, begin: number): void {
  const isFlushed = ({ position }: Operation) => position <= begin;
  const done = applyAll(file.flushed, file.length, file.pending.filter(isFlushed));
  file.pending = file.pending.filter((one) => !isFlushed(one));
  file.flushed = done.content;
  file.length = done.length;
}

/**
 * After a flush that failed, the system takes the pages for clean: a later flush does not write those
 * that are not on the disk. It still writes the length of the file.
 */
function dropPages(file: File, begin: number, random: Random): void {
  const tried = file.pending.filter(({ position }) => position <= begin);
  const later = file.pending.filter(({ position }) => position > begin);
  if (tried.length === 0) return;
  const length = tried.reduce(lengthAfter, file.length);
  file.cached ??= applyAll(Buffer.from(file.flushed), file.length, file.pending).content;
  const kept: Operation[] = [];
  for (const page of new Set(tried.flatMap((one) => range(...pagesOf(one))))) {
    const offset = page * pageBytes;
    const data = Buffer.from(file.cached.subarray(offset, Math.min(offset + pageBytes, length)));
    if (random.chance(0.5)) file.dropped.add(page);
    else kept.push({ ...tried[0]!, kind: "write", offset, data });
  }
  const done = applyAll(file.flushed, file.length, kept);
  file.flushed = done.content;
  file.length = done.length;
  file.pending = [{ ...tried.at(-1)!, kind: "truncate", offset: length }];
  for (const one of later) change(file, one);
}

function range(first: number, end: number): readonly number[] {
  return Array.from({ length: end - first }, (_, at) => first + at);
}

/** What a file has on the disk. `until` is the moment that the names are of. */
function contentOf(file: File, rest: Rest, until: number, random: Random): Buffer {
  const { flushed, length, pending } = file;
  const moments = pending.map(({ position }) => position);
  const own =
    rest === "files"
      ? random.pick([-1, ...moments])
      : rest === "names"
        ? random.pick([-1, Number.POSITIVE_INFINITY])
        : until;
  const before = pending.filter(({ position }) => position <= own);
  if (rest === "pages" || rest === "sectors")
    return mixedContent(file, before, rest === "pages" ? pageBytes : 512, random);
  const kept = rest === "subset" ? pending.filter(() => random.chance(0.5)) : before;
  if (kept.length === 0) return flushed.subarray(0, length);
  const done = applyAll(Buffer.from(flushed), length, kept);
  return done.content.subarray(0, done.length);
}

/**
 * Every block has what it had after some of the operations, each block another number of them: the disk
 * wrote the blocks in any order. `prefix` gives the length of the file, which is one of its metadata.
 */
function mixedContent(
  file: File,
  prefix: readonly Operation[],
  blockBytes: number,
  random: Random,
): Buffer {
  const length = prefix.reduce(lengthAfter, file.length);
  const content = Buffer.alloc(length);
  file.flushed.copy(content, 0, 0, Math.min(file.length, length));
  const counts = new Map<number, number>();
  const countOf = (block: number) => {
    let count = counts.get(block);
    if (count === undefined) {
      const end = file.pending.length;
      count = random.pick([0, end, random.below(end + 1)]);
      counts.set(block, count);
    }
    return count;
  };
  for (const [index, { kind, offset, data }] of file.pending.entries()) {
    if (kind !== "write") continue;
    for (let at = offset; at < Math.min(offset + data.length, length); ) {
      const block = Math.floor(at / blockBytes);
      const until = Math.min((block + 1) * blockBytes, offset + data.length);
      if (index < countOf(block)) data.copy(content, at, at - offset, until - offset);
      at = until;
    }
  }
  return content;
}

/** Writes an image of one folder into another. */
export function writeImage(image: Image, from: string, to: string): void {
  const written = new Map<Content, string>();
  for (const [path, entry] of image) {
    const copy = join(to, path.slice(from.length));
    mkdirSync(entry === folderEntry ? copy : dirname(copy), { recursive: true });
    if (entry === folderEntry) continue;
    const other = written.get(entry);
    if (other !== undefined) linkSync(other, copy);
    else writeFileSync(copy, entry.bytes);
    written.set(entry, copy);
  }
}
