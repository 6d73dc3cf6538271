/**
 * Epochs make a position in the ledger unique. A store that was restored from a backup continues
 * with the same `seq` numbers and other content. Each start of the service on SQLite, each import or
 * undo in a SQLite store that no service runs on, and each new primary or database on PostgreSQL
 * therefore begins an epoch. The store keeps all of them as history, so a position from an earlier
 * epoch stays usable unless a restore removed its rows.
 */

/**
 * A point in the history of a store: an epoch, and the `seq` of a ledger row. The epoch is that of
 * the head when the position is a head, and `epochOf` the row when it is a row.
 */
export interface Position {
  readonly epoch: string;
  readonly seq: number;
}

/** One epoch. It covers the rows after `fromSeq`, up to the start of the next epoch. */
export interface EpochStart {
  readonly epoch: string;
  readonly fromSeq: number;
}

/** The epoch in which a row was written. `history` is in the order in which the epochs began. */
export function epochOf(history: readonly EpochStart[], seq: number): string | undefined {
  return history.findLast(({ fromSeq }) => fromSeq < seq)?.epoch;
}

/**
 * Returns true if the ledger up to `position` is part of this store's ledger, which ends at
 * `headSeq`. Returns false for an epoch that the store does not know, and for a row that a restore
 * removed. Read `history` and `headSeq` after receiving the position: another instance may have
 * written since the last read.
 */
export function isInHistory(
  history: readonly EpochStart[],
  headSeq: number,
  { epoch, seq }: Position,
): boolean {
  const at = history.findIndex((start) => start.epoch === epoch);
  if (at < 0) return false;
  const end = history[at + 1]?.fromSeq ?? headSeq;
  return seq >= history[at]!.fromSeq && seq <= end;
}

/**
 * The last row up to `position` that this store's ledger, which ends at `headSeq`, certainly has as
 * well. 0 if the store does not know the epoch.
 */
export function lastCommonSeq(
  history: readonly EpochStart[],
  headSeq: number,
  { epoch, seq }: Position,
): number {
  const at = history.findIndex((start) => start.epoch === epoch);
  if (at < 0) return 0;
  return Math.min(seq, history[at + 1]?.fromSeq ?? headSeq);
}

/** The position of a row, or of the start of the ledger. Undefined if the store has no epoch. */
export function positionOf(history: readonly EpochStart[], seq: number): Position | undefined {
  const epoch = epochOf(history, seq) ?? history[0]?.epoch;
  return epoch === undefined ? undefined : { epoch, seq };
}
