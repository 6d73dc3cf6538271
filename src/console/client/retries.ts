/** The longest time that a request waits because the service asks for it. */
const askedMsMax = 10_000;
const firstMs = 400;
const growingMsMax = 30_000;

/**
 * How long to wait before the next attempt: as long as the service asks for, or twice as long each
 * time. A random part is added or taken away, so that many pages do not come back together.
 */
export function retryDelayMs(
  failures: number,
  retryAfter: string | null = null,
  random = Math.random(),
): number {
  const asked = /^\d{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) * 1_000 : undefined;
  // Never earlier than asked for.
  if (asked !== undefined) return Math.min(askedMsMax, asked) + firstMs * random;
  return Math.min(growingMsMax, firstMs * 2 ** (failures - 1)) * (0.5 + random);
}

/** Waits, and fails at once if the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
