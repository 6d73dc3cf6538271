import type { Clock } from "./clock.js";
import { TimeoutError } from "./errors.js";
import type { ApiKey } from "./options.js";

/**
 * Checked here because a platform that refuses a header value shows it in its message. No message
 * of ours shows the key.
 */
export function checkApiKey(value: unknown): string {
  if (value === undefined || value === null || value === "") {
    throw new TypeError("apiKey is missing. Pass your API key, or a function that returns it");
  }
  if (typeof value === "string" && /^[\x21-\x7e]+$/.test(value)) return value;
  throw new TypeError(
    "apiKey must be a string of visible ASCII characters, without spaces or line ends",
  );
}

/** The key for the next attempt. A function has as long to give it as an attempt may take. */
export async function currentApiKey(
  apiKey: ApiKey,
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string> {
  if (typeof apiKey === "string") return apiKey;
  signal.throwIfAborted();
  const asked = apiKey();
  const done = new AbortController();
  const late = clock.sleep(timeoutMs, done.signal).then(() => {
    throw new TimeoutError(`The apiKey function gave no key within ${timeoutMs} ms`);
  });
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { signal: done.signal });
  });
  try {
    return checkApiKey(await Promise.race([asked, late, aborted]));
  } finally {
    done.abort();
  }
}
