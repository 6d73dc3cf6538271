/** What clients did and saw, and the ledger that is left. Times are of one monotonic clock. */
export interface History {
  readonly initial: ReadonlyMap<bigint, number>;
  readonly writes: readonly Write[];
  readonly reads: readonly EntryRead[];
  /** Every row after the initial ones. */
  readonly ledger: readonly Row[];
}

/** A write that a client sends until it gets a final answer. */
export interface Write {
  /** Its idempotency key, and the reason in all its rows. */
  readonly id: string;
  readonly method: "PATCH" | "POST";
  readonly changes: readonly WrittenChange[];
  readonly start: number;
  /** When its first final answer arrived. */
  end: number;
  /** The final answers: 200 or 4xx. */
  readonly answers: Answer[];
  /** Attempts without a final answer, each of which may have taken effect. */
  unanswered: number;
}

export interface WrittenChange {
  readonly petId: bigint;
  /** Exactly one of the two. */
  readonly quantity?: number;
  readonly delta?: number;
  /** The version that the entry must have. */
  readonly expected?: number | undefined;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly etag: string | null;
  readonly isReplayed: boolean;
}

/** One entry as a client read it. */
export interface EntryRead {
  readonly petId: bigint;
  readonly quantity: number;
  readonly version: number;
  readonly start: number;
  readonly end: number;
}

export interface Row {
  readonly seq: number;
  readonly petId: bigint;
  readonly before: number | null;
  readonly after: number;
  readonly previous: number | null;
  readonly reason: string | null;
  readonly requestId: string | null;
}

export const isAcknowledged = ({ answers }: Write) => answers.some(({ status }) => status === 200);
