/**
 * What clients saw of the service, recorded by one process with one monotonic clock. Operation A was
 * before operation B only if A ended before B started. Otherwise they overlapped and may have taken
 * effect in either order.
 */
export type History = {
  /** The inventory before the first recorded operation. */
  initial: ReadonlyMap<bigint, number>;
  /** The ledger's head at that time. */
  initialSeq: bigint;
  updates: readonly Update[];
  reads: readonly Read[];
  /** Every ledger row after `initialSeq`, read after the last operation. */
  ledger: readonly LedgerRow[];
};

export type Update = {
  /** Identifies the ledger row: a request id, or a quantity that is used only once. */
  id: string;
  petId: bigint;
  quantity: number;
  start: number;
  end: number;
  /**
   * `refused`: the response was an error which guarantees that nothing happened. `unknown`: the
   * response said that the outcome is not known; the update has taken effect, or takes effect before
   * any later one that is acknowledged, or never. `unanswered`: no response; the update may take effect
   * at any later time, or never.
   */
  outcome: "acknowledged" | "refused" | "unknown" | "unanswered";
};

export type Read = {
  start: number;
  end: number;
  entries: ReadonlyMap<bigint, number>;
  /** The `seq` in the ETag of the response, if it has one. */
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
    | "late update"
    | "stale read"
    | "early read"
    | "torn list"
    | "not a register";
  message: string;
};
