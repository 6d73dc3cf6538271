/** The head as its page in the database file contains it. */
export interface PageHead {
  readonly epoch: string;
  readonly seq: bigint;
  readonly at: bigint;
  readonly keysVersion: bigint;
}

/** The first byte of a page with table rows. */
const tableLeaf = 0x0d;

/**
 * Parses the head from its page, in SQLite's file format (https://www.sqlite.org/fileformat2.html).
 * SQLite cannot read it for us: the file without its log is not a complete database, because a
 * checkpoint that stops for a reader leaves some pages older than others. Throws if the page does not
 * contain a head.
 */
export function parseHeadPage(page: Buffer): PageHead {
  if (page[0] !== tableLeaf || page.readUInt16BE(3) !== 1) throw notHeadPage();
  const cell = createCursor(page, page.readUInt16BE(8));
  cell.varint(); // the length of the row
  cell.varint(); // its rowid
  const headerStart = cell.at;
  const headerBytes = cell.varint();
  const types: number[] = [];
  while (cell.at < headerStart + headerBytes) types.push(cell.varint());
  const [, , epoch, seq, at, keysVersion] = types.map((type) => cell.value(type));
  if (typeof epoch !== "string") throw notHeadPage();
  return { epoch, seq: integer(seq), at: integer(at), keysVersion: integer(keysVersion) };
}

function integer(value: unknown): bigint {
  if (typeof value !== "bigint") throw notHeadPage();
  return value;
}

function notHeadPage(): Error {
  return new Error("not the page of the head");
}

/** Bytes of an integer by its serial type. The integers 0 and 1 have the types 8 and 9. */
const integerBytes = [0, 1, 2, 3, 4, 6, 8];

function createCursor(page: Buffer, from: number) {
  const cursor = {
    at: from,
    varint(): number {
      let value = 0;
      for (let length = 0; length < 9; length++) {
        const byte = page.readUInt8(cursor.at++);
        value = value * 128 + (byte & 0x7f);
        if (byte < 0x80) break;
      }
      return value;
    },
    value(type: number): string | bigint | null {
      if (type === 0) return null;
      if (type === 8 || type === 9) return BigInt(type - 8);
      const bytes = type < 7 ? integerBytes[type]! : (type - 13) / 2;
      const start = cursor.at;
      cursor.at += bytes;
      if (cursor.at > page.length) throw notHeadPage();
      if (type >= 13) return page.toString("utf8", start, cursor.at);
      return bytes === 8 ? page.readBigInt64BE(start) : BigInt(page.readIntBE(start, bytes));
    },
  };
  return cursor;
}
