import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Operation } from "../tracer/log.ts";

const pageBytes = 4096;

/** The content of a file, by page. Pages that were never written are zeros. */
interface Content {
  length: number;
  readonly pages: Map<number, Buffer>;
}

interface File {
  /** What reads return. */
  readonly cached: Content;
  readonly stored: Content;
  /** The pages that the next flush stores, each with the position of its last write. */
  readonly dirty: Map<number, number>;
}

/**
 * A disk whose failed flushes lose pages: Linux takes them for stored, so a later flush succeeds without
 * them, and reads still return them from memory until the power fails. Names are always stored.
 */
export function createForgetfulDisk(folder: string) {
  const files = new Map<number, File>();
  const names = new Map<string, number>();
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const content = readFileSync(path);
    const { ino } = statSync(path);
    const file = emptyFile();
    write(file, 0, content, 0);
    store(file, 0);
    files.set(ino, file);
    names.set(path, ino);
  }

  return {
    apply(operation: Operation): void {
      const { kind, path, target, inode, offset, begin } = operation;
      const file = files.get(inode);
      if (kind === "create") {
        files.set(inode, emptyFile());
        names.set(path, inode);
      } else if (kind === "link" || kind === "rename") names.set(target, inode);
      if (kind === "unlink" || kind === "rename") names.delete(path);
      if (!file) return;
      if (kind === "write") write(file, offset, operation.data, operation.position);
      else if (kind === "truncate") truncate(file, offset);
      else if (kind === "sync") store(file, begin);
      else if (kind === "failedSync") file.dirty.clear();
    },
    /** What the disk has if the power fails now. */
    image: (): ReadonlyMap<string, Buffer> =>
      new Map([...names].map(([path, inode]) => [path, bytesOf(files.get(inode)!.stored)])),
  };
}

function emptyFile(): File {
  const empty = () => ({ length: 0, pages: new Map() });
  return { cached: empty(), stored: empty(), dirty: new Map() };
}

function write({ cached, dirty }: File, offset: number, data: Buffer, position: number): void {
  const end = offset + data.length;
  cached.length = Math.max(cached.length, end);
  for (let at = offset; at < end; ) {
    const page = Math.floor(at / pageBytes);
    const content = cached.pages.get(page) ?? Buffer.alloc(pageBytes);
    const bytes = data.copy(content, at - page * pageBytes, at - offset);
    cached.pages.set(page, content);
    dirty.set(page, position);
    at += bytes;
  }
}

function truncate({ cached, dirty }: File, length: number): void {
  const last = Math.floor(length / pageBytes);
  for (const page of cached.pages.keys()) {
    if (page < last) continue;
    if (page === last) cached.pages.get(page)!.fill(0, length - page * pageBytes);
    else if (cached.pages.delete(page)) dirty.delete(page);
  }
  cached.length = length;
}

/** Stores what was written before the flush began. */
function store({ cached, stored, dirty }: File, begin: number): void {
  stored.length = cached.length;
  for (const [page, position] of dirty) {
    if (position > begin) continue;
    stored.pages.set(page, Buffer.from(cached.pages.get(page)!));
    dirty.delete(page);
  }
}

function bytesOf({ length, pages }: Content): Buffer {
  const bytes = Buffer.alloc(length);
  for (const [page, content] of pages) {
    if (page * pageBytes < length) content.copy(bytes, page * pageBytes);
  }
  return bytes;
}
