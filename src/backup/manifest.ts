import { environments } from "../domain/keys/keys.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { valueOfJson } from "../domain/values/json.ts";

/** The version of the file format. */
export const format = 1;

/** The first line of a backup. */
export const firstLine = `petstore backup ${format}\n`;

/** The last line of a backup: what it contains, without the checksum that ends it. */
export interface Manifest {
  readonly format: number;
  /** The version of petstore that wrote the backup. */
  readonly version: string;
  readonly environment: string;
  readonly engine: string;
  readonly epoch: string;
  /** The last ledger row, and its hash. */
  readonly seq: number;
  readonly hash: string;
  /** The backup contains every update that was acknowledged before this time. */
  readonly at: string;
  readonly rows: Readonly<Record<string, number>>;
  /** The size of the compressed part. */
  readonly bytes: number;
}

/** What follows the digits of the checksum. */
const closing = '"}\n';
const checksumDigits = 64;

/** The bytes at the end of a file that its checksum does not cover. */
export const uncheckedBytes = checksumDigits + closing.length;

/** No manifest of this version is longer. */
export const manifestBytesMax = 16 * 1024;

/** The manifest up to its checksum, which covers this text too. */
export function manifestStart(manifest: Manifest): string {
  return `${JSON.stringify(manifest).slice(0, -1)},"sha256":"`;
}

export function manifestEnd(checksum: string): string {
  return checksum + closing;
}

/** A file that is not a valid backup. The message is one sentence that names the file. */
export function invalidBackup(file: string, problem: string): ServiceError {
  return new ServiceError("invalid_request", `${file} ${problem}`);
}

export function damagedBackup(file: string, what: string): ServiceError {
  return invalidBackup(file, `is damaged: ${what}; use another backup`);
}

/** Reads the last line of a file. */
export function parseManifest(
  file: string,
  line: string,
): { readonly manifest: Manifest; readonly checksum: string } {
  const [, checksum] = /,"sha256":"([0-9a-f]{64})"\}\n$/.exec(line) ?? [];
  if (checksum === undefined) {
    throw damagedBackup(file, "its last line is not a manifest, so it may be incomplete");
  }
  const found = valueOfJson<Partial<Manifest>>(line);
  if (!found) throw damagedBackup(file, "its manifest is not valid JSON");
  if (typeof found.format === "number" && found.format > format) throw newerFormat(file);
  if (!isManifest(found)) throw damagedBackup(file, "its manifest lacks fields or has wrong ones");
  return { manifest: found, checksum };
}

export function newerFormat(file: string): ServiceError {
  return invalidBackup(
    file,
    "was made by a newer version of petstore; restore it with that version",
  );
}

/** A store of another version has other tables or columns. */
export function otherTables(file: string, { version }: Manifest): ServiceError {
  const problem = `was made by petstore ${version}, whose tables differ from those of this version`;
  return invalidBackup(file, `${problem}; restore it with petstore ${version}`);
}

function isManifest(found: Partial<Manifest>): found is Manifest {
  const { rows } = found;
  return (
    found.format === format &&
    [found.version, found.engine, found.epoch].every((text) => typeof text === "string") &&
    (environments as readonly unknown[]).includes(found.environment) &&
    isCount(found.seq) &&
    typeof found.hash === "string" &&
    /^[0-9a-f]{64}$/.test(found.hash) &&
    typeof found.at === "string" &&
    !Number.isNaN(Date.parse(found.at)) &&
    isCount(found.bytes) &&
    found.bytes > 0 &&
    typeof rows === "object" &&
    rows !== null &&
    Object.values(rows).every(isCount)
  );
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function countAllRows({ rows }: Manifest): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}
