const windowMs = 100;

/** Returns a function that tells how many rows per second were lately added to the ledger. */
export function measureChangeRate(monotonicMs: () => number, lastSeq: () => number): () => number {
  let perSecond = 0;
  let windowStart = { ms: monotonicMs(), seq: lastSeq() };
  return () => {
    const now = monotonicMs();
    const elapsedMs = now - windowStart.ms;
    if (elapsedMs >= windowMs) {
      const seq = lastSeq();
      perSecond = ((seq - windowStart.seq) / elapsedMs) * 1_000;
      windowStart = { ms: now, seq };
    }
    return perSecond;
  };
}
