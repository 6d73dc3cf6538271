import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { constants, createZstdCompress, zstdCompressSync } from "node:zlib";
import { sourceOf } from "../../src/backup/locate.ts";
import { openBackup } from "../../src/backup/reader.ts";
import { restoreAndVerify } from "../../src/cli/backups/restored-store.ts";
import { readConfig } from "../../src/config.ts";
import { type BackupParts, readParts, writeParts } from "../support/backup-files.ts";
import { openWorkspace } from "../support/process.ts";
import { importPets, withStoreAt } from "../support/stocking.ts";
import { setUnit } from "../support/units.ts";

/** Every file that is not a good backup is rejected with one sentence, and nothing is restored. */

const place = openWorkspace();
const good = place.path("good.petstore");
const bad = place.path("bad.petstore");
const config = readConfig({}, {});
const badSource = sourceOf(bad, config);
afterAll(() => place.leave());

beforeAll(async () => {
  const database = `sqlite:${place.path("data/production.db")}`;
  const pets = Array.from({ length: 40 }, (_, at) => `{"petId":${at + 1},"name":"Pet ${at}"}`);
  await importPets(database, ...pets, '{"petId":9223372036854775807,"name":"last"}');
  await withStoreAt(database, (store) => store.inventory.commit([undone(1n, 7), undone(2n, 8)]));
  await place.json("backup", good);
});

function undone(petId: bigint, quantity: number) {
  return setUnit(petId, quantity, { cause: "undo" });
}

let restored = 0;

/** The message with which a file is rejected. */
async function rejection(file = bad): Promise<string> {
  restored += 1;
  const restoring = restoreAndVerify(file, place.path(`restored-${restored}.db`), config);
  const error: Error = await restoring.then(
    () => expect.unreachable("the file was restored"),
    (reason) => reason,
  );
  expect(error.name).toBe("ServiceError");
  expect(error.message).toStartWith(`${file} `);
  expect(error.message).not.toContain("\n");
  return error.message;
}

test("the good file is restored, and so is one that was taken apart and put together", async () => {
  writeParts(bad, readParts(good));
  for (const file of [good, bad]) {
    const { verification } = await restoreAndVerify(file, `${file}.db`, config);
    expect(verification).toMatchObject({ pets: 41, seq: 43, faultCount: 0 });
  }
});

test("a backup that expands to more than a thousand times its size is restored", async () => {
  const long = Array<string>(100).fill("a".repeat(1_000));
  const database = `sqlite:${place.path("long.db")}`;
  const pets = Array.from({ length: 40 }, (_, at) => ({ petId: at + 1, name: "a", tags: long }));
  await importPets(database, ...pets.map((pet) => JSON.stringify({ ...pet, photoUrls: long })));
  const file = place.path("long.petstore");
  const { bytes } = await place.json("backup", file, "--database", database);
  expect(40 * 200_000).toBeGreaterThan(1_000 * (bytes as number) + 1_000_000);
  const { verification } = await restoreAndVerify(file, place.path("long-restored.db"), config);
  expect(verification).toMatchObject({ pets: 40, faultCount: 0 });
});

test("a restore stops before the content of a backup fills the disk, and the message does not blame the file", async () => {
  const block = 4_096;
  let path = "";
  /** A restore on a disk with this many free bytes at first, and as many less as the log has. */
  const restoreWith = (free: number, bytes: number) => {
    restored += 1;
    path = place.path(`restored-${restored}.db`);
    const readDisk = () => {
      const used = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
      return { bavail: (free - used) / block, blocks: bytes / block, bsize: block };
    };
    return restoreAndVerify(good, path, config, readDisk);
  };
  const mebibyte = 2 ** 20;
  await expect(restoreWith(63 * mebibyte, 2 ** 40)).rejects.toThrow(
    `cannot write to ${dirname(path)}: the content of the backup would fill the disk`,
  );
  const { verification } = await restoreWith(70 * mebibyte, 2 ** 40);
  expect(verification.pets).toBe(41);
  // Of a small disk, a twentieth is enough.
  expect((await restoreWith(20 * mebibyte, 100 * mebibyte)).verification.pets).toBe(41);
  await expect(restoreWith(4 * mebibyte, 100 * mebibyte)).rejects.toThrow("would fill the disk");
});

test("a file that was cut off anywhere is rejected", async () => {
  const bytes = readFileSync(good);
  for (let length = 0; length < bytes.length; length += Math.ceil(bytes.length / 60)) {
    writeFileSync(bad, bytes.subarray(0, length));
    expect(await rejection()).toMatch(/ is damaged: | is not a petstore backup$/);
  }
  writeFileSync(bad, bytes.subarray(0, -1));
  expect(await rejection()).toContain("is damaged");
});

test("a file with one flipped bit anywhere is rejected", async () => {
  const bytes = readFileSync(good);
  const last = bytes.length - 1;
  const positions = Array.from({ length: 150 }, (_, at) => Math.floor((at * last) / 149));
  for (const [index, position] of [...positions, last - 1, last - 2, last - 10].entries()) {
    const changed = Buffer.from(bytes);
    changed[position]! ^= 1 << (index % 8);
    writeFileSync(bad, changed);
    const opening = openBackup(badSource, "production");
    await expect(opening).rejects.toThrow(bad);
  }
});

test("a damaged name of a table in the manifest is damage, not another version", async () => {
  const bytes = readFileSync(good);
  bytes[bytes.lastIndexOf('"orders"') + 1] = 0x4f;
  writeFileSync(bad, bytes);
  expect(await rejection()).toContain("its checksum is wrong");
});

test("a file that grew is rejected", async () => {
  for (const more of ["\n", "x", "{}\n", readFileSync(good)]) {
    copyFileSync(good, bad);
    writeFileSync(bad, more, { flag: "a" });
    expect(await rejection()).toContain("is damaged");
  }
});

/** Changes parts of the good file, and makes size and checksum right. */
async function rejectionOf(change: (parts: BackupParts) => void): Promise<string> {
  const parts = readParts(good);
  change(parts);
  writeParts(bad, parts);
  return rejection();
}

const lineOf = ({ lines }: BackupParts, text: string) =>
  lines.findIndex((line) => line.startsWith(text));

function replaceIn(parts: BackupParts, text: string, part: string, by: string): void {
  const at = lineOf(parts, text);
  expect(parts.lines[at]).toContain(part);
  parts.lines[at] = parts.lines[at]!.replace(part, by);
}

describe("with a right checksum, a file is rejected", () => {
  test("that is something else", async () => {
    for (const content of ["", "a", "petstore backup", "petstore backup x\n"]) {
      writeFileSync(bad, content);
      expect(await rejection()).toEndWith("is not a petstore backup");
    }
    expect(await rejection(place.path("data/production.db"))).toContain("is a SQLite database");
    writeFileSync(bad, readParts(good).firstLine);
    expect(await rejection()).toContain("has no manifest");
  });

  test("of a newer format or of a version with other tables", async () => {
    const newer = "was made by a newer version of petstore";
    const first = (parts: BackupParts) => {
      parts.firstLine = "petstore backup 2\n";
    };
    expect(await rejectionOf(first)).toContain(newer);
    expect(await rejectionOf(({ manifest }) => Object.assign(manifest, { format: 2 }))).toContain(
      newer,
    );
    const other = await rejectionOf(({ manifest }) => {
      Object.assign(manifest, {
        version: "9.1.0",
        rows: { ...(manifest.rows as object), more: 1 },
      });
    });
    expect(other).toContain("was made by petstore 9.1.0, whose tables differ");
    const columns = await rejectionOf((parts) =>
      replaceIn(parts, '{"table":"pets"', '"name"', '"n"'),
    );
    expect(columns).toContain("whose tables differ");
  });

  test("of another environment", async () => {
    const change = ({ manifest }: BackupParts) =>
      void Object.assign(manifest, { environment: "staging" });
    expect(await rejectionOf(change)).toEndWith(
      "is a backup of staging, not of production; add --env staging",
    );
  });

  test("whose manifest has wrong or missing fields", async () => {
    const wrong: Record<string, unknown>[] = [
      { seq: -1 },
      { seq: "43" },
      { hash: "00" },
      { at: "yesterday" },
      { epoch: undefined },
      { rows: null },
      { rows: { pets: 0.5 } },
      { environment: "moon" },
      { format: 0 },
    ];
    for (const fields of wrong) {
      const change = ({ manifest }: BackupParts) => void Object.assign(manifest, fields);
      expect(await rejectionOf(change)).toContain("manifest lacks fields or has wrong ones");
    }
  });

  test("whose manifest lies about the end of the ledger or about rows", async () => {
    const lies = { seq: 42, hash: "0".repeat(64) };
    for (const [name, value] of Object.entries(lies)) {
      const change = ({ manifest }: BackupParts) => void Object.assign(manifest, { [name]: value });
      expect(await rejectionOf(change)).toContain("its ledger ends at 43:");
    }
    for (const pets of [40, 42, 1e15]) {
      const change = ({ manifest }: BackupParts) => void Object.assign(manifest.rows!, { pets });
      expect(await rejectionOf(change)).toContain(`table pets does not have the ${pets} rows`);
    }
  });

  test("whose tables are missing, repeated, cut off or followed by something", async () => {
    const tableOf = (parts: BackupParts, name: string) =>
      [lineOf(parts, `{"table":"${name}"`), lineOf(parts, `{"end":"${name}"`) + 1] as const;
    const missing = await rejectionOf((parts) => {
      const [from, to] = tableOf(parts, "ledger");
      parts.lines.splice(from, to - from);
    });
    expect(missing).toContain("table ledger is missing");
    const repeated = await rejectionOf((parts) => {
      const [from, to] = tableOf(parts, "pets");
      parts.lines.splice(to, 0, ...parts.lines.slice(from, to));
    });
    expect(repeated).toContain("table inventory is missing");
    const cut = await rejectionOf(({ lines }) => void lines.splice(-1));
    expect(cut).toContain("table made does not have the 0 rows");
    const longer = await rejectionOf(({ lines }) => void lines.push("[1]"));
    expect(longer).toContain("continues after the last table");
    const open = await rejectionOf((parts) => {
      parts.compressed = zstdCompressSync(parts.lines.join("\n"));
    });
    expect(open).toContain("its content is cut off");
  });

  test("whose rows are invalid", async () => {
    const values = ["9223372036854775808", "1.5", "true", '{"a":1}', "[1]", "1e400", "", '"\\'];
    for (const value of values) {
      const message = await rejectionOf((parts) => replaceIn(parts, "[1,", "[1,", `[${value},`));
      expect(message).toContain("row 1 of table pets is invalid");
    }
    const short = await rejectionOf((parts) => replaceIn(parts, "[1,", "[1,", "["));
    expect(short).toContain("row 1 of table pets is invalid");
    const constraint = await rejectionOf((parts) => replaceIn(parts, "[1,", "[1,", "[2,"));
    expect(constraint).toContain("the store does not accept a row");
  });

  test("whose ledger has a gap or a changed row, or whose inventory does not follow from it", async () => {
    const row = (parts: BackupParts, seq: number) => {
      const from = lineOf(parts, '{"table":"ledger"');
      return parts.lines.findIndex((line, at) => at > from && line.startsWith(`[${seq},`));
    };
    const gap = await rejectionOf((parts) => {
      parts.lines.splice(row(parts, 20), 1);
      replaceIn(parts, '{"end":"ledger"', "43", "42");
      Object.assign(parts.manifest.rows!, { ledger: 42 });
    });
    expect(gap).toMatch(/its content has \d+ faults, the first one: .*20/);
    const changed = await rejectionOf((parts) => {
      const at = row(parts, 43);
      parts.lines[at] = parts.lines[at]!.replace(",8,", ",9,");
    });
    expect(changed).toMatch(/its content has \d+ faults?, the first one: /);
    const entry = await rejectionOf((parts) => {
      const at = lineOf(parts, '{"table":"inventory"') + 1;
      parts.lines[at] = parts.lines[at]!.replace("[1,7,", "[1,6,");
    });
    expect(entry).toMatch(/its content has \d+ faults?, the first one: /);
  });

  test("that expands without end, in one line or in memory for decompression", async () => {
    const compress = async (pieces: readonly string[], params = {}) => {
      const compressor = createZstdCompress({ params });
      for (const piece of pieces) compressor.write(piece);
      compressor.end();
      return Buffer.concat(await Array.fromAsync(compressor));
    };
    const start = [`${readParts(good).lines[0]}\n`];
    /** Reads rows without storing them. */
    const claim = async (compressed: Uint8Array): Promise<string> => {
      const parts = readParts(good);
      Object.assign(parts.manifest.rows!, { pets: 1e12 });
      writeParts(bad, { ...parts, compressed });
      const { rowsOf } = await openBackup(badSource, "production");
      try {
        for await (const _ of rowsOf("pets"));
        return "";
      } catch (error) {
        return (error as Error).message;
      }
    };
    const text = "1".repeat(17 << 20);
    expect(await claim(await compress([...start, "[", text]))).toContain("has an endless line");
    const window = await compress(start, { [constants.ZSTD_c_windowLog]: 27 });
    expect(await claim(window)).toContain("cannot be decompressed");
    expect(await claim(Buffer.from("not compressed"))).toContain("cannot be decompressed");
    expect(await claim(zstdCompressSync(new Uint8Array([0xff, 0x0a])))).toContain("UTF-8");
  });
});
