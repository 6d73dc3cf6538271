import { signal } from "@preact/signals";
import { mapCharactersMax } from "../../domain/values/bounds.ts";
import { ApiError, messageOf } from "../client/api.ts";
import { onSignOut } from "../client/session.ts";
import type { Import } from "../client/types.ts";
import { announce } from "../page/messages.ts";
import { readStoredJson, store } from "../page/storage.ts";
import { type Format, formatOf, type ImportKind, sendFile, type Upload } from "./upload.ts";

// The import that this page makes. It goes on while the person looks at another view.

export type ImportState =
  | { readonly kind: "idle" }
  /** The name does not show the format. */
  | { readonly kind: "unknown-format"; readonly file: File }
  | { readonly kind: "sending"; readonly upload: Upload; readonly part: number }
  | ({ readonly kind: "failed" } & Failure)
  | ({ readonly kind: "done" } & Done);

export interface Failure {
  readonly upload: Upload;
  readonly message: string;
  /** True if the connection was lost while the file was imported: it may have been imported or not. */
  readonly isUncertain: boolean;
}

export interface Done {
  readonly upload: Upload;
  readonly result: Import;
  /** When it was done, in milliseconds since 1970. */
  readonly at: number;
}

export const importState = signal<ImportState>({ kind: "idle" });
export const importKind = signal<ImportKind>("pets");

let leaving = new AbortController();

/** Checks a file at once, if its name shows the format. Nothing is changed. */
export function chooseFile(file: File): void {
  const format = formatOf(file.name);
  if (format) void checkFile(file, format);
  else importState.value = { kind: "unknown-format", file };
}

export function checkFile(file: File, format: Format): Promise<void> {
  const what = importKind.value;
  const map = readStoredJson<Upload["map"]>(storageName(what)) ?? {};
  return send({ what, file, format, map, isDryRun: true });
}

const storageName = (what: ImportKind) => `petstore-import-${what}`;

/**
 * Keeps the fields of columns in this browser, so that the next file of the same kind needs no work. The
 * oldest are forgotten first.
 */
export function rememberHeaders(what: ImportKind, map: Upload["map"]): Upload["map"] {
  const pairs = Object.entries(map);
  while (pairs.join().length > mapCharactersMax) pairs.shift();
  const kept = Object.fromEntries(pairs);
  store(storageName(what), JSON.stringify(kept));
  return kept;
}

/** Sends the same file again, as a dry run. */
export function checkAgain(upload: Upload): Promise<void> {
  return send({ ...upload, isDryRun: true });
}

/** Imports a file that was checked. */
export function applyImport(upload: Upload): Promise<void> {
  return send({ ...upload, isDryRun: false });
}

/** Stops what is being sent, and starts over. */
export function resetImport(): void {
  leaving.abort();
  importState.value = { kind: "idle" };
}

async function send(upload: Upload): Promise<void> {
  leaving.abort();
  leaving = new AbortController();
  const { signal: current } = leaving;
  importState.value = { kind: "sending", upload, part: 0 };
  const sent = (part: number) => {
    if (!current.aborted) importState.value = { kind: "sending", upload, part };
  };
  try {
    const result = await sendFile(upload, sent, current);
    if (current.aborted) return;
    importState.value = { kind: "done", upload, result, at: Date.now() };
    announce(upload.isDryRun ? "The file has been checked." : "The file has been imported.");
  } catch (error) {
    if (current.aborted) return;
    const isUncertain = mayBeStored(upload, error);
    importState.value = { kind: "failed", upload, message: messageOf(error), isUncertain };
  }
}

/** No response, a bug, or a proxy that lost the service: the import may have been stored. */
const uncertainStatuses: readonly number[] = [0, 500, 502, 504];

function mayBeStored({ isDryRun }: Upload, error: unknown): boolean {
  return !isDryRun && error instanceof ApiError && uncertainStatuses.includes(error.status);
}

onSignOut(resetImport);
