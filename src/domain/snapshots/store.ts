import type { Position } from "../ledger/epochs.ts";
import type { MaybePromise } from "../running/clock.ts";

/** The whole inventory as of one ledger row, stored in parts. It can be made again from the ledger. */
export interface Checkpoint {
  readonly seq: number;
  /** How many entries the inventory had. */
  readonly entries: number;
}

/** Consecutive entries of a checkpoint, packed. */
export interface CheckpointPart {
  readonly firstPetId: bigint;
  readonly data: Uint8Array;
}

/** Reads checkpoints. Only complete ones are visible. */
export interface CheckpointReader {
  /** The last checkpoint at or before a row. */
  findCheckpoint(seq: number): MaybePromise<Checkpoint | undefined>;
  /** The first checkpoint at or after a row. */
  findNextCheckpoint(seq: number): MaybePromise<Checkpoint | undefined>;
  /** Every checkpoint, by ascending `seq`. */
  listCheckpoints(): MaybePromise<readonly Checkpoint[]>;
  /**
   * Parts of the checkpoint at `seq` that begin with a larger pet id (null: from the first part),
   * ascending, at most `partsMax`.
   */
  partsAfter(
    seq: number,
    petId: bigint | null,
    partsMax: number,
  ): MaybePromise<readonly CheckpointPart[]>;
  /** The part of the checkpoint at `seq` that contains a pet, if the checkpoint does. */
  findPart(seq: number, petId: bigint): MaybePromise<CheckpointPart | undefined>;
}

/**
 * Writes checkpoints, each part in a short transaction of its own. One process at a time writes
 * them: its methods return false, and change nothing, once another process has taken over.
 */
export interface CheckpointStore extends CheckpointReader {
  /** Takes over the writing for `writer`, unless another process has written within seconds. */
  claim(writer: string): Promise<boolean>;
  /**
   * Removes parts of checkpoints that were not completed, at most `partsMax`. Returns the number of
   * parts removed, or false.
   */
  removeUnfinished(writer: string, partsMax: number): Promise<number | false>;
  addPart(writer: string, seq: number, part: CheckpointPart): Promise<boolean>;
  /** Makes a checkpoint visible. Returns false also if the store has left the epoch of `position`. */
  complete(writer: string, position: Position, entries: number): Promise<boolean>;
}
