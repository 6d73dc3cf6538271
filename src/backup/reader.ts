import { createHash } from "node:crypto";
import type { RowsOf, StoredRow } from "../domain/verification/store.ts";
import { readLines } from "./content.ts";
import {
  damagedBackup,
  firstLine,
  invalidBackup,
  type Manifest,
  manifestBytesMax,
  newerFormat,
  otherTables,
  parseManifest,
  uncheckedBytes,
} from "./manifest.ts";
import type { BackupBytes, BackupSource } from "./place.ts";
import { type BackupTable, endLine, missingValues, parseRow, tablesFor } from "./rows.ts";

/** A backup whose checksum is right. */
export interface Backup {
  readonly manifest: Manifest;
  readonly isEncrypted: boolean;
  /** Reads the tables. Each can be read once, completely, and in the order of the file. */
  readonly rowsOf: RowsOf;
}

/** Called while the checksum is computed. `total` is the size of the file. */
export type OnChecked = (bytes: number, total: number) => void;

/**
 * Reads the manifest of a backup and checks the checksum of the whole file. Rows are checked as they
 * are read. A file that is not a valid backup is rejected with one sentence that names it.
 */
export async function openBackup(
  source: BackupSource,
  environment: string,
  onChecked?: OnChecked,
): Promise<Backup> {
  const { address: file } = source;
  return withEnds(source, async (bytes, line) => {
    const { size, isEncrypted = false } = bytes;
    const { manifest, checksum } = parseManifest(file, line);
    if (firstLine.length + manifest.bytes + 1 + Buffer.byteLength(line) !== size) {
      throw damagedBackup(file, "its size differs from the size in its manifest");
    }
    if (manifest.environment !== environment) {
      const problem = `is a backup of ${manifest.environment}, not of ${environment}`;
      throw invalidBackup(file, `${problem}; add --env ${manifest.environment}`);
    }
    if ((await computeChecksum(bytes, onChecked)) !== checksum) {
      throw damagedBackup(file, "its checksum is wrong");
    }
    // After the checksum: damage can also change the name of a table.
    const inFile = tablesFor(manifest.rows);
    if (Object.keys(manifest.rows).join() !== inFile.map(({ name }) => name).join()) {
      throw otherTables(file, manifest);
    }
    return { manifest, isEncrypted, rowsOf: rowsFrom(source, manifest, inFile) };
  });
}

/** Reads what a backup says about itself. Does not check the rest of the file. */
export async function readManifest(source: BackupSource): Promise<Manifest> {
  return withEnds(source, async (_, line) => parseManifest(source.address, line).manifest);
}

/** Opens a backup and checks its first line. Passes its last line to `work`. */
async function withEnds<T>(
  { address, open }: BackupSource,
  work: (bytes: BackupBytes, lastLine: string) => Promise<T>,
): Promise<T> {
  await using bytes = await open();
  await checkFirstLine(address, bytes);
  return await work(bytes, await readLastLine(address, bytes));
}

async function checkFirstLine(file: string, bytes: BackupBytes): Promise<void> {
  const start = (await bytes.read(0, 64)).toString("latin1");
  if (start.startsWith(firstLine)) return;
  if (/^petstore backup [0-9]+\n/.test(start)) throw newerFormat(file);
  if (start.startsWith("SQLite format 3\0")) {
    throw invalidBackup(file, "is a SQLite database; give sqlite:PATH to --database or --ledger");
  }
  throw invalidBackup(file, "is not a petstore backup");
}

/** The last line with its line feed, or an empty text. */
async function readLastLine(file: string, { size, read }: BackupBytes): Promise<string> {
  const length = Math.min(size, manifestBytesMax);
  const end = await read(size - length, length);
  const start = end.lastIndexOf("\n", -2) + 1;
  if (start === 0) throw damagedBackup(file, "it has no manifest, so it may be incomplete");
  return end.subarray(start).toString("utf8");
}

/** How much is read at a time. In a bucket, each is a request. */
const blockBytes = 4 * 1024 * 1024;

/** Reads a part of a file in blocks. A file that became shorter meanwhile ends sooner. */
async function* blocksOf({ read }: BackupBytes, start: number, end: number) {
  for (let at = start; at < end; ) {
    const block = await read(at, Math.min(blockBytes, end - at));
    if (block.length === 0) return;
    at += block.length;
    yield block;
  }
}

async function computeChecksum(bytes: BackupBytes, onChecked?: OnChecked): Promise<string> {
  const checksum = createHash("sha256");
  for await (const block of blocksOf(bytes, 0, bytes.size - uncheckedBytes)) {
    checksum.update(block);
    onChecked?.(block.length, bytes.size);
  }
  return checksum.digest("hex");
}

function rowsFrom(
  source: BackupSource,
  manifest: Manifest,
  inFile: readonly BackupTable[],
): RowsOf {
  const { address: file, open } = source;
  async function* stream(): AsyncGenerator<Uint8Array> {
    await using bytes = await open();
    yield* blocksOf(bytes, firstLine.length, firstLine.length + manifest.bytes);
  }
  let lines: LineReader | undefined;
  let tablesRead = 0;

  /** Reads the rows of the next table. After the last one, nothing may follow. */
  async function* readTable(table: BackupTable): AsyncGenerator<readonly StoredRow[]> {
    lines ??= createLineReader(readLines(file, stream()));
    const header = await lines.next();
    const missing = missingValues(table, header);
    if (!missing) {
      if (isTableLine(header, table.name)) throw otherTables(file, manifest);
      throw damagedBackup(file, `table ${table.name} is missing`);
    }
    const expected = manifest.rows[table.name]!;
    let count = 0;
    for (;;) {
      const batch = await lines.takeRows();
      if (batch.length === 0) break;
      count += batch.length;
      if (count > expected) break;
      yield batch.map((line, index) => {
        const row = parseRow(table, missing, line);
        if (row) return row;
        if (table.name === "ledger" && line.endsWith(",null]")) throw invalidBackup(file, unhashed);
        const number = count - batch.length + index + 1;
        throw damagedBackup(file, `row ${number} of table ${table.name} is invalid`);
      });
    }
    if (count !== expected || (await lines.next()) !== endLine(table, count)) {
      const found = `table ${table.name} does not have the ${expected} rows of the manifest`;
      throw damagedBackup(file, found);
    }
    tablesRead += 1;
    if (tablesRead === inFile.length && (await lines.next()) !== undefined) {
      throw damagedBackup(file, "its content continues after the last table");
    }
  }

  return async function* (name) {
    const at = inFile.findIndex((table) => table.name === name);
    // A table that an earlier version did not have.
    if (at === -1) return;
    if (tablesRead > at) throw new Error(`table ${name} was read before`);
    // Tables that nobody wants are checked too.
    while (tablesRead < at) for await (const _ of readTable(inFile[tablesRead]!));
    yield* readTable(inFile[at]!);
  };
}

/** Not damage: such a store was in order in earlier versions. The hash is the last column of the ledger. */
const unhashed =
  "has ledger rows without a hash, from a store that 0.1.0, 0.2.0 or 0.3.0 created; see docs/upgrading.md";

function isTableLine(line: string | undefined, name: string): boolean {
  return line?.startsWith(`{"table":${JSON.stringify(name)},`) === true;
}

interface LineReader {
  /** The next line; undefined at the end. */
  next(): Promise<string | undefined>;
  /** The next lines that have a row, in batches. Empty if the next line has none. */
  takeRows(): Promise<readonly string[]>;
}

function createLineReader(blocks: AsyncGenerator<readonly string[]>): LineReader {
  let block: readonly string[] = [];
  let at = 0;

  /** Whether there is a line. Reads the next block if necessary. */
  async function fill(): Promise<boolean> {
    while (at === block.length) {
      const next = await blocks.next();
      if (next.done) return false;
      block = next.value;
      at = 0;
    }
    return true;
  }

  return {
    next: async () => ((await fill()) ? block[at++] : undefined),
    async takeRows() {
      if (!(await fill())) return [];
      const start = at;
      while (at < block.length && block[at]!.startsWith("[")) at += 1;
      return block.slice(start, at);
    },
  };
}
