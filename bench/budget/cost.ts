// Measures the CPU time of a call in this process.

const warmUpMs = 300;
const roundsMin = 6;

/**
 * Returns the CPU time of one call in microseconds. It includes all threads, but not `prepare`, which
 * makes the input of a call. The best round counts, because noise only adds time.
 */
export async function costOf<Input>(
  prepare: (at: number) => Input,
  work: (input: Input) => unknown,
  calls = 1024,
  measuredMs = 500,
): Promise<number> {
  const warmUntil = performance.now() + warmUpMs;
  while (performance.now() < warmUntil) await runRound(prepare, work, calls);
  const until = performance.now() + measuredMs;
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < roundsMin || performance.now() < until; round++) {
    best = Math.min(best, await runRound(prepare, work, calls));
  }
  return best / calls;
}

async function runRound<Input>(
  prepare: (at: number) => Input,
  work: (input: Input) => unknown,
  calls: number,
): Promise<number> {
  const inputs = Array.from({ length: calls }, (_, at) => prepare(at));
  const before = process.cpuUsage();
  for (const input of inputs) {
    const result = work(input);
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
