/** An update that the service acknowledged, and when. */
export interface Acknowledged {
  readonly petIds: readonly [number, number];
  readonly quantity: number;
  readonly atMs: number;
}

/** Updates that run until they are stopped. Each sets two pets to the same quantity, in one batch. */
export interface Updates {
  readonly acknowledged: readonly Acknowledged[];
  /** How long each request took. */
  readonly durationsMs: readonly number[];
  stop(): Promise<void>;
}

/** Pets in pairs, for `startUpdates`. */
export function pairsOf(pairs: number): readonly { petId: bigint; quantity: number }[] {
  return Array.from({ length: 2 * pairs }, (_, at) => ({ petId: BigInt(at + 2), quantity: 0 }));
}

/** Pet 2n and pet 2n + 1 always have the same quantity, unless a copy was torn. */
export function startUpdates(
  baseUrl: string,
  key: string,
  pairs: number,
  writers: number,
): Updates {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const acknowledged: Acknowledged[] = [];
  const durationsMs: number[] = [];
  let isStopped = false;
  let next = 0;

  async function write(): Promise<void> {
    while (!isStopped) {
      const quantity = ++next;
      const first = 2 * (1 + (quantity % pairs));
      const petIds = [first, first + 1] as const;
      const changes = petIds.map((petId) => ({ petId, quantity }));
      const startedMs = performance.now();
      const body = JSON.stringify({ changes });
      const response = await fetch(`${baseUrl}/changes`, { method: "POST", headers, body });
      await response.arrayBuffer();
      durationsMs.push(performance.now() - startedMs);
      if (!response.ok) throw new Error(`an update got ${response.status}`);
      acknowledged.push({ petIds, quantity, atMs: Date.now() });
    }
  }

  const running = Promise.all(Array.from({ length: writers }, write));
  // A failure is reported by `stop`.
  running.catch(() => {});
  return {
    acknowledged,
    durationsMs,
    async stop() {
      isStopped = true;
      await running;
    },
  };
}
