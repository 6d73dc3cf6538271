/**
 * What clients saw of the service, recorded by one process with one clock that never goes back.
 * Operation A came before operation B only if A ended before B started; everything else overlapped
 * and may have taken effect in either order.
 */
export type History = {
  /** The inventory before the first recorded operation. */
  initial: ReadonlyMap<bigint, number>;
  /** The ledger's head at that moment. */
  initialSeq: bigint;
  updates: readonly Update[];
  reads: readonly Read[];
  /** Every ledger row after `initialSeq`, as read once all is quiet. */
  ledger: readonly LedgerRow[];
};

export type Update = {
  /** The name by which the ledger row can be told: a request id, or a quantity used only once. */
  id: string;
  petId: bigint;
  quantity: number;
  start: number;
  end: number;
  /**
   * `refused` was answered with an error that promises nothing happened; `unknown` with 503 or not
   * at all: it may have happened, also long after the answer, or never.
   */
  outcome: "acknowledged" | "refused" | "unknown";
};

export type Read = {
  start: number;
  end: number;
  entries: ReadonlyMap<bigint, number>;
  /** The head that the answer claims to show, where its ETag tells. */
  seq?: bigint;
};

export type LedgerRow = {
  seq: bigint;
  id: string;
  petId: bigint;
  quantityBefore: number | null;
  quantityAfter: number | null;
};

export type Violation = {
  kind:
    | "gap"
    | "wrong before"
    | "lost update"
    | "duplicated update"
    | "unasked row"
    | "wrong order"
    | "stale read"
    | "early read"
    | "torn list"
    | "not a register";
  message: string;
};
