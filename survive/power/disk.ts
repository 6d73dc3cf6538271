import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Random } from "../random.ts";
import type { Operation } from "../tracer/log.ts";

/** What became of changes that were not flushed when the power failed. */
export type Rest = "none" | "all" | "prefix" | "pages" | "sectors";
export const rests: readonly Rest[] = ["none", "all", "prefix", "pages", "sectors"];

/** The files that a disk has after a power failure, by path. */
export type Image = ReadonlyMap<string, Buffer>;

interface File {
  /** What is certainly on the disk. */
  flushed: Buffer;
  /** Writes and truncations that may be on the disk or not. */
  pending: Operation[];
}

/** A folder entry that was added or removed. */
interface NameChange {
  readonly position: number;
  readonly folder: string;
  readonly name: string;
  /** Undefined if the name was removed. */
  readonly inode: number | undefined;
}

/**
 * A disk that keeps only what it must: of a file what was flushed, of a folder the names that were there
 * when the folder was flushed. With `ignoresFlushes` it is the control: it keeps nothing.
 */
export function createDisk(folder: string, ignoresFlushes = false) {
  const files = new Map<number, File>();
  const folders = new Map<number, string>();
  const names = new Map<string, number>();
  let changes: NameChange[] = [];

  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { ino } = statSync(path);
    if (entry.isDirectory()) folders.set(ino, path);
    else if (entry.isFile()) {
      files.set(ino, { flushed: readFileSync(path), pending: [] });
      names.set(path, ino);
    }
  }
  folders.set(statSync(folder).ino, folder);

  function rename(position: number, name: string, inode: number | undefined): void {
    changes.push({ position, folder: dirname(name), name, inode });
  }

  function sync({ inode, begin }: Operation): void {
    if (ignoresFlushes) return;
    const path = folders.get(inode);
    if (path !== undefined) {
      const isFlushed = (one: NameChange) => one.folder === path && one.position <= begin;
      for (const change of changes.filter(isFlushed)) applyName(names, change);
      changes = changes.filter((one) => !isFlushed(one));
      return;
    }
    const file = files.get(inode);
    if (!file) return;
    const flushed = file.pending.filter(({ position }) => position <= begin);
    file.flushed = contentAfter(file.flushed, flushed);
    file.pending = file.pending.filter(({ position }) => position > begin);
  }

  return {
    apply(operation: Operation): void {
      const { kind, position, path, target, inode } = operation;
      if (kind === "sync") sync(operation);
      else if (kind === "mkdir") folders.set(inode, path);
      else if (kind === "write" || kind === "truncate") files.get(inode)?.pending.push(operation);
      else if (kind === "create") {
        files.set(inode, { flushed: Buffer.alloc(0), pending: [] });
        rename(position, path, inode);
      } else if (kind === "link") rename(position, target, inode);
      else if (kind === "unlink") rename(position, path, undefined);
      else if (kind === "rename") {
        rename(position, path, undefined);
        rename(position, target, inode);
      }
    },
    /** What the disk has if the power fails now. */
    image(rest: Rest, random: Random): Image {
      const pending = [...files.values()].flatMap((file) => file.pending);
      const last = Math.max(0, ...[...pending, ...changes].map(({ position }) => position));
      // Of names, a prefix: file systems keep their order.
      const until = rest === "none" ? -1 : rest === "all" ? last : random.below(last + 1);
      const kept = new Map(names);
      for (const change of changes) if (change.position <= until) applyName(kept, change);
      const image = new Map<string, Buffer>();
      for (const [path, inode] of kept) {
        const file = files.get(inode)!;
        const before = file.pending.filter(({ position }) => position <= until);
        const content =
          rest === "pages" || rest === "sectors"
            ? mixedContent(file, before, rest === "pages" ? 4096 : 512, random)
            : contentAfter(file.flushed, before);
        image.set(path, content);
      }
      return image;
    },
  };
}

function applyName(names: Map<string, number>, { name, inode }: NameChange): void {
  if (inode === undefined) names.delete(name);
  else names.set(name, inode);
}

function lengthAfter(length: number, { kind, offset, data }: Operation): number {
  return kind === "truncate" ? offset : Math.max(length, offset + data.length);
}

function resized(content: Buffer, length: number): Buffer {
  const copy = Buffer.alloc(length);
  content.copy(copy);
  return copy;
}

function contentAfter(flushed: Buffer, operations: readonly Operation[]): Buffer {
  if (operations.length === 0) return flushed;
  let content = resized(
    flushed,
    operations.reduce((max, one) => Math.max(max, lengthAfter(0, one)), flushed.length),
  );
  let length = flushed.length;
  for (const one of operations) {
    const before = length;
    length = lengthAfter(length, one);
    if (one.kind === "write") one.data.copy(content, one.offset);
    else if (length < before) content.fill(0, length, before);
  }
  content = content.subarray(0, length);
  return content;
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
) {
  const length = prefix.reduce((now, one) => lengthAfter(now, one), file.flushed.length);
  const content = resized(file.flushed.subarray(0, length), length);
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
  for (const [path, content] of image) {
    const copy = join(to, path.slice(from.length));
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, content);
  }
}
