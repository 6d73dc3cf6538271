import type { Clock } from "./clock.js";
import { TimeoutError } from "./errors.js";
import type { ApiKey } from "./options.js";

/**
 * Checks that the key is a valid header value. Without this check, `fetch` would throw an error whose
 * message contains the key. Our messages never contain it.
 */
export function checkApiKey(value: unknown): string {
  if (value === undefined || value === null || value === "") {
    throw new TypeError("apiKey is missing. Pass your API key, or a function that returns it");
  }
  if (typeof value === "string" && /^[\x21-\x7e]+$/.test(value)) return value;
  throw new TypeError(
    "apiKey must be a string of visible ASCII characters, without spaces or line breaks",
  );
}

/** Returns the key for the next attempt. An `apiKey` function may take up to `timeoutMs`. */
export async function currentApiKey(
  apiKey: ApiKey,
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string> {
  if (typeof apiKey === "string") return apiKey;
  signal.throwIfAborted();
  const key = apiKey();
  const done = new AbortController();
  const timeout = clock.sleep(timeoutMs, done.signal).then(() => {
    throw new TimeoutError(`The apiKey function returned no key within ${timeoutMs} ms`);
  });
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { signal: done.signal });
  });
  try {
    return checkApiKey(await Promise.race([key, timeout, aborted]));
  } finally {
    done.abort();
  }
}
