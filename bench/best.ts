// Chooses the best of several runs.

interface Run {
  readonly throughput: number;
  readonly cpuMicroseconds: number | undefined;
}

/** Returns the run with the highest rate, with the lowest CPU time of all. Noise only adds time. */
export function best<Measured extends Run>(runs: Measured[]): Measured {
  const fastest = runs.reduce((one, other) => (other.throughput > one.throughput ? other : one));
  const known = runs.flatMap(({ cpuMicroseconds }) => cpuMicroseconds ?? []);
  return { ...fastest, cpuMicroseconds: known.length > 0 ? Math.min(...known) : undefined };
}
