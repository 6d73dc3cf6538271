import { afterAll, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import {
  type BackupKey,
  decrypting,
  encrypting,
  readKeyFile,
} from "../../src/backup/encryption.ts";
import { openWorkspace } from "../support/process.ts";
import { importPets } from "../support/stocking.ts";

const place = openWorkspace();
afterAll(() => place.leave());

const chunkBytes = 64 * 1024 + 16;
const headerBytes = 78;

function keyFile(name: string, ...lines: string[]): string {
  writeFileSync(place.path(name), lines.map((line) => `${line}\n`).join(""), { mode: 0o600 });
  return place.path(name);
}

function newKey(): BackupKey {
  return readKeyFile(keyFile("some.key", randomBytes(32).toString("hex")))[0]!;
}

async function encrypt(key: BackupKey, content: Uint8Array, stepBytes = 10_000): Promise<Buffer> {
  const written: Uint8Array[] = [];
  const sink = async (bytes: Uint8Array) => void written.push(Uint8Array.from(bytes));
  await encrypting(key, sink, async (send) => {
    for (let at = 0; at < content.length; at += stepBytes) {
      await send(content.subarray(at, at + stepBytes));
    }
  });
  return Buffer.concat(written);
}

/** Reads everything as the reader of backups does: first both ends, then blocks. */
async function decrypt(keys: readonly BackupKey[], file: Buffer): Promise<Buffer> {
  const bytes = {
    size: file.length,
    read: async (start: number, length: number) => file.subarray(start, start + length),
    [Symbol.asyncDispose]: async () => {},
  };
  const lines = keys.map(({ secret }) => secret.toString("hex"));
  const opened = await decrypting("file", bytes, keyFile("these.key", ...lines));
  const blocks = [];
  for (let at = 0; at < opened.size; at += 50_000) blocks.push(await opened.read(at, 50_000));
  return Buffer.concat(blocks);
}

const rejection = (file: Buffer, keys: readonly BackupKey[]) =>
  decrypt(keys, file).then(
    () => "accepted",
    (error: Error) => error.message,
  );

test("every content comes back as it was, whatever its size and the size of the writes", async () => {
  const key = newKey();
  const whole = chunkBytes - 16;
  for (const size of [1, whole - 1, whole, whole + 1, 3 * whole, 200_001]) {
    const content = randomBytes(size);
    for (const step of [999, 300_000]) {
      const file = await encrypt(key, content, step);
      expect((await decrypt([newKey(), key], file)).equals(content)).toBe(true);
      // No two files are the same, and none shows what it contains.
      expect(file.equals(await encrypt(key, content, step))).toBe(false);
    }
  }
  expect((await encrypt(key, Buffer.from("x".repeat(999)))).includes("xxx")).toBe(false);
});

test("each changed byte, cut, moved, doubled, foreign or missing chunk is noticed", async () => {
  const key = newKey();
  const content = randomBytes(200_000);
  const file = await encrypt(key, content);
  const foreign = await encrypt(key, content);
  const chunks = (of: Buffer) =>
    Array.from({ length: Math.ceil((of.length - headerBytes) / chunkBytes) }, (_, index) =>
      of.subarray(headerBytes + index * chunkBytes).subarray(0, chunkBytes),
    );
  const header = file.subarray(0, headerBytes);
  const [first, second, third, last] = chunks(file) as [Buffer, Buffer, Buffer, Buffer];
  // The pieces are those of the file.
  expect(await rejection(Buffer.concat([header, first, second, third, last]), [key])).toBe(
    "accepted",
  );
  const edges = [0, 1, 2, 3].flatMap((index) => {
    const start = headerBytes + index * chunkBytes;
    const end = Math.min(start + chunkBytes, file.length);
    return [start, start + 1, start + 999, end - 17, end - 16, end - 1];
  });
  const bad: [string, Buffer][] = [
    ...[...Array(headerBytes).keys(), ...edges].map((at): [string, Buffer] => {
      const flipped = Buffer.from(file);
      flipped[at]! ^= 1;
      return [`byte ${at}`, flipped];
    }),
    ...[headerBytes, ...edges.filter((at) => at > headerBytes)].map((at): [string, Buffer] => [
      `cut at ${at}`,
      file.subarray(0, at),
    ]),
    ["swapped", Buffer.concat([header, second, first, third, last])],
    ["missing", Buffer.concat([header, first, third, last])],
    ["doubled", Buffer.concat([header, first, second, second, third, last])],
    ["foreign", Buffer.concat([header, first, chunks(foreign)[1]!, third, last])],
    ["other header", Buffer.concat([foreign.subarray(0, headerBytes), ...chunks(file)])],
    ["continued", Buffer.concat([file, last])],
    ["longer", Buffer.concat([file, Buffer.alloc(1)])],
  ];
  for (const [what, damaged] of bad) {
    const result = await rejection(damaged, [key]).then((message) => `${what}: ${message}`);
    // A first line that is not that of an encrypted file is left to the reader of plain backups.
    if (/^byte ([0-9]|1[0-9]|2[0-5]):/.test(result)) expect(damaged.equals(file)).toBe(false);
    else expect(result).toMatch(/: file is (damaged|encrypted with the key)|newer version/);
  }
  expect(await rejection(file, [newKey()])).toBe(
    `file is encrypted with the key ${key.id}; give the file that has this key to --backup-key-file`,
  );
});

test("an encrypted backup is restored only with its key, and a drill proves that the key opens it", async () => {
  const database = `sqlite:${place.path("shop.db")}`;
  await importPets(database, '{"petId":1,"name":"Rex","quantity":3}');
  const [older, newer] = [0, 1].map(() => randomBytes(32).toString("hex")) as [string, string];
  const keys = keyFile("backup.key", "# of the shop", "", older);
  const file = place.path("one.petstore");
  const settings = ["--database", database, "--backup-key-file"];
  await place.json("backup", file, ...settings, keys);
  expect(readFileSync(file).includes("Rex")).toBe(false);
  expect(readFileSync(file, "latin1")).toStartWith("petstore encrypted backup 1 ");
  expect(await place.json("drill", file, ...settings, keys)).toMatchObject({ succeeded: true });
  // After a change of the key, the earlier one opens earlier backups.
  const both = keyFile("both.key", newer, older);
  expect(await place.json("drill", file, ...settings, both)).toMatchObject({ succeeded: true });
  const later = place.path("later.petstore");
  await place.json("backup", later, ...settings, both);

  const refused = async (...words: string[]) => {
    const target = `sqlite:${place.path("restored.db")}`;
    const { code, err } = await place.runHere(["restore", ...words, "--database", target]);
    expect(err).not.toContain(older.slice(0, 16));
    expect(code).toBe(2);
    return err;
  };
  expect(await refused(file)).toMatch(
    /one\.petstore is encrypted with the key \w{16}; give the file/,
  );
  expect(await refused(later, "--backup-key-file", keys)).toMatch(/is encrypted with the key/);
  const absent = place.path("absent.key");
  expect(await refused(file, "--backup-key-file", absent)).toContain(
    `cannot read the key file ${absent}: no such file or folder`,
  );
  const short = keyFile("short.key", older.slice(1));
  expect(await refused(file, "--backup-key-file", short)).toMatch(
    /short\.key is invalid: it must have a key/,
  );
  const empty = keyFile("empty.key", "# nothing");
  expect(await refused(file, "--backup-key-file", empty)).toContain("empty.key is invalid");
  // Neither is read: one would never end.
  const [pipe, folder] = [place.path("pipe.key"), place.path("folder.key")];
  execFileSync("mkfifo", [pipe]);
  mkdirSync(folder);
  for (const key of [pipe, folder]) {
    expect(await refused(file, "--backup-key-file", key)).toContain(`${key} is invalid`);
  }
  const drill = await place.runHere(["drill", file, "--database", database]);
  expect(drill).toMatchObject({
    code: 1,
    err: expect.stringContaining("is encrypted with the key"),
  });

  const target = `sqlite:${place.path("restored.db")}`;
  // As some editors write it.
  const marked = keyFile("marked.key", `\ufeff${older}\r`);
  const words = ["restore", file, "--database", target, "--backup-key-file", marked];
  expect(await place.json(...words)).toMatchObject({ seq: 1 });

  // Somebody may have put it in the place of an encrypted one.
  const plain = place.path("plain.petstore");
  await place.json("backup", plain, "--database", database);
  const told = await place.runHere(["drill", plain, ...settings, keys]);
  expect(told).toMatchObject({
    code: 0,
    err: expect.stringContaining(`${plain} is not encrypted`),
  });
  const silent = await place.runHere(["drill", plain, "--database", database]);
  expect(silent.err).not.toContain("is not encrypted");
});
