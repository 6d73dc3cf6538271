/** How many times longer than on an idle machine things may take. Other programs use the processor too. */
export const slownessMax = 10;

/**
 * Resolves once it is true, with the time that took in milliseconds. `patienceMs` is for an idle machine.
 * It asks less often the longer it waits, because most questions are requests to a service.
 */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  patienceMs: number,
  what: string,
): Promise<number> {
  const started = performance.now();
  while (!(await isTrue())) {
    const waitedMs = performance.now() - started;
    if (waitedMs > patienceMs * slownessMax)
      throw new Error(`${what}: not within ${Math.round(waitedMs)} ms`);
    await Bun.sleep(Math.min(5 + waitedMs / 10, 25));
  }
  return performance.now() - started;
}

/**
 * Lets real time pass. Only where the passing of time is what is tested: everything else waits with
 * `until`.
 */
export const pass = (ms: number): Promise<void> => Bun.sleep(ms);

/** Keeps this process busy: nothing else in it runs meanwhile. */
export const keepBusy = (ms: number): void => Bun.sleepSync(ms);

/** Prepares a test, also if a busy machine makes the database late a few times. */
export async function patiently<T>(work: () => Promise<T>, triesLeft = 4): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ((error as { code?: string }).code !== "unavailable" || triesLeft === 0) throw error;
    return patiently(work, triesLeft - 1);
  }
}
