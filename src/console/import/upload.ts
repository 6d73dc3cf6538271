import { ApiError, checkSession } from "../client/api.ts";
import type { Import } from "../client/types.ts";
import { type Format, type ImportKind, readResult } from "./import-result.ts";

export interface Upload {
  readonly what: ImportKind;
  readonly file: File;
  readonly format: Format;
  readonly isDryRun: boolean;
}

/**
 * Sends a file and returns the result. `sent` is called with the part that has arrived, from 0 to 1.
 * Only an XMLHttpRequest reports this in all browsers.
 */
export function sendFile(
  { what, file, format, isDryRun }: Upload,
  sent: (part: number) => void,
  signal: AbortSignal,
): Promise<Import> {
  const query = new URLSearchParams({ format, dryRun: `${isDryRun}`, name: file.name });
  const { promise, resolve, reject } = Promise.withResolvers<Import>();
  const upload = new XMLHttpRequest();
  upload.open("POST", `/admin/${what}/import?${query}`);
  upload.upload.addEventListener("progress", ({ loaded, total }) => {
    sent(total === 0 ? 1 : loaded / total);
  });
  upload.upload.addEventListener("load", () => sent(1));
  upload.addEventListener("load", () => {
    if (upload.status === 401) void checkSession();
    try {
      resolve(readResult(upload.status, upload.responseText));
    } catch (error) {
      reject(error);
    }
  });
  upload.addEventListener("error", () => {
    reject(new ApiError("offline", "The connection was lost, or the file has changed.", 0));
  });
  signal.addEventListener("abort", () => {
    upload.abort();
    reject(signal.reason);
  });
  upload.setRequestHeader("Content-Type", "application/octet-stream");
  upload.send(file);
  return promise;
}
