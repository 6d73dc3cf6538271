import { resolve } from "node:path";
import type { Config } from "../config.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { isFileError, reasonOf } from "../file-errors.ts";

/** The file that a database address names; undefined for a database server. */
export function sqlitePath({ databaseUrl }: Pick<Config, "databaseUrl">): string | undefined {
  if (!databaseUrl.startsWith("sqlite:")) return undefined;
  return resolve(databaseUrl.slice("sqlite:".length).replace(/^\/\/(?=\/)/, ""));
}

/** Adds the path to errors of opening a file, for the operator. */
export async function namingFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = fileReason(path, error);
    if (reason === undefined) throw error;
    const message = `cannot open the store ${path}: ${reason}`;
    throw new ServiceError("unavailable", message, undefined, error);
  }
}

function fileReason(path: string, error: unknown): string | undefined {
  if (isFileError(error)) {
    const { path: file = path } = error;
    return file === path ? reasonOf(error) : `${file}: ${reasonOf(error)}`;
  }
  const isNamed = !(error instanceof ServiceError) || error.message.includes(path);
  if (isNamed || error.code !== "unavailable") return undefined;
  return causeOf(error) ?? error.message.replace(/^The /, "the ").replace(/\.$/, "");
}

const diskReasons: readonly (string | undefined)[] = [
  "unreachable",
  "unwritable",
  "full",
  "cannotOpen",
  "damaged",
];

/** What is wrong with the disk or a file, in words for the operator. Clients get a more general message. */
export function causeOf({ reason, cause }: ServiceError): string | undefined {
  return diskReasons.includes(reason) && typeof cause === "string" ? cause : undefined;
}
